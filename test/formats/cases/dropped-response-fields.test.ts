import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { lost, message } from './response-field-cases.ts'
import { getStream, providerOf, type RequestInput, send } from './support.ts'

const test = suite('cases: fields dropped from responses')

/** Request fields that affect which response fields are dropped. */
const bodies: Readonly<Partial<Record<WireFormat, JsonObject>>> = {
  'openai-chat': { stop: ['x', 'y'], functions: [{ name: 'f', parameters: { type: 'object' } }] },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    generationConfig: { stopSequences: ['x', 'y'] },
  },
}

function getQuestion(client: WireFormat, from: WireFormat): Omit<RequestInput, 'respond'> {
  const body = bodies[client]
  return { client, model: `${providerOf[from]}/m`, ...(body && { body }) }
}

/** Returns only the warnings about the response. */
const filterWarnings = (warnings: readonly string[] = []) =>
  warnings.filter((warning) => warning.startsWith('dropped:answer.'))

for (const [label, [{ from, response: reply, events }, names]] of Object.entries(lost))
  for (const client of wireFormats.filter((format) => format !== from)) {
    const warnings = (names[client] ?? []).map((name) => `dropped:answer.${name}`)
    const outcome = warnings.length > 0 ? 'a warning names' : 'translation keeps'

    test(`${outcome} ${label} (${client} client)`, async () => {
      const { response, warned, world } = await send({ ...getQuestion(client, from), respond: () => json(reply) })
      assert.equal([response.status, filterWarnings(warned)], [200, warnings])
      assert.equal(filterWarnings(world.recorded.requests[0]?.warnings), warnings)
    })

    test(`${outcome} ${label} at the end of a stream (${client} client)`, async () => {
      const request = { ...getQuestion(client, from), stream: true, respond: () => getStream(from, events) }
      const { response, warned, world } = await send(request)
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith(':'))
      const comments = lines.map((line) => line.replace(', replaced:answer.pause_turn', '')) // see pauses.test.ts
      const result = warnings.length > 0 && client !== 'gemini' ? [`: x-signalbox-warning: ${warnings.join(', ')}`] : []
      assert.equal([filterWarnings(warned), comments], [[], result])
      assert.equal(filterWarnings(world.recorded.requests[0]?.warnings), warnings)
    })
  }

test("strict mode doesn't reject a response because of dropped fields", async () => {
  const { response: reply } = message([{ type: 'mcp_tool_use', id: 'm1', name: 'f', input: {} }])
  const request = { ...getQuestion('openai-chat', 'anthropic-messages'), body: {}, respond: () => json(reply) }
  const { response, warned } = await send({ ...request, headers: { 'x-signalbox-strict': 'true' } })
  assert.equal([response.status, warned], [200, ['dropped:answer.mcp_tool_use']])
})
