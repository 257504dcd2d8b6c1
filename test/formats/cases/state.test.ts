import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import type { World } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { answerOf } from './collect-response.ts'
import { begin, followUps, SECRETS, thinking, thinkingStream } from './conversations.ts'
import { getFormat, getStream, openGateway, providerOf, request } from './support.ts'

const test = suite('cases: opaque state')

const open = () =>
  openGateway(({ provider, url, body }) => {
    const format = getFormat(provider)
    const isStream = url.pathname.includes('stream') || JSON.parse(body).stream === true
    return isStream ? getStream(format, thinkingStream[format]) : json(thinking[format])
  })

/** Sends the client's first turn to a provider. */
async function firstTurn(world: World, client: WireFormat, from: WireFormat, stream = false): Promise<JsonObject> {
  const response = await request(world, { client, model: `${providerOf[from]}/m`, body: begin[client], stream })
  assert.is(response.status, 200)
  return stream ? answerOf[client](response) : response.json()
}

/** Returns the provider request with which the client continues. */
async function nextTurn(
  { world, upstream }: Awaited<ReturnType<typeof open>>,
  client: WireFormat,
  to: WireFormat,
  reply: JsonObject,
) {
  const response = await request(world, { client, model: `${providerOf[to]}/m`, body: followUps[client](reply) })
  assert.is(response.status, 200, await response.clone().text())
  return upstream.calls.at(-1)?.body ?? ''
}

/** The form in which a provider expects its own state to come back. */
const returned: Readonly<Record<WireFormat, (sent: string) => void>> = {
  'openai-chat': (sent) => assert.match(sent, /"reasoning_content":"Let me look. SIGNATURE-1"/),
  'openai-responses': (sent) => {
    assert.match(sent, /"type":"reasoning"[^}]*"summary":\[[^\]]*\]?[^}]*\}?[^}]*"encrypted_content":"SIGNATURE-1"/)
    assert.match(sent, /"include":\["reasoning.encrypted_content"\]/)
    assert.match(sent, /"store":false/)
  },
  'anthropic-messages': (sent) => {
    const turn = JSON.parse(sent).messages.find(({ role }: JsonObject) => role === 'assistant')
    assert.equal(turn.content.slice(0, 2), [
      { type: 'thinking', thinking: 'Let me look.', signature: 'SIGNATURE-1' },
      { type: 'redacted_thinking', data: 'REDACTED-2' },
    ])
  },
  gemini: (sent) => {
    const parts: JsonObject[] = JSON.parse(sent).contents.find(({ role }: JsonObject) => role === 'model').parts
    const calls = parts.filter(({ functionCall }) => functionCall)
    assert.equal(
      calls.map(({ thoughtSignature }) => thoughtSignature),
      ['SIGNATURE-1', undefined],
    )
  },
}

/** Returns what remains of a response if the client keeps only the calls. */
const callsAlone: Readonly<Record<WireFormat, (answer: JsonObject) => JsonObject>> = {
  'openai-chat': ({ choices }) => {
    const [{ message }] = choices as [{ message: { tool_calls: { id: string; type: string; function: JsonObject }[] } }]
    const tool_calls = message.tool_calls.map(({ id, type, function: { name, arguments: args } }) => {
      return { id, type, function: { name, arguments: args } }
    })
    return { choices: [{ message: { role: 'assistant', content: null, tool_calls } }] }
  },
  'openai-responses': ({ output }) => ({
    output: (output as JsonObject[]).filter(({ type }) => type === 'function_call').map(({ id: _, ...item }) => item),
  }),
  'anthropic-messages': ({ content }) => ({
    content: (content as JsonObject[]).filter(({ type }) => type === 'tool_use'),
  }),
  gemini: ({ candidates }) => {
    const [{ content }] = candidates as [{ content: { role: string; parts: JsonObject[] } }]
    const parts = content.parts.flatMap(({ functionCall }) => (functionCall ? [{ functionCall }] : []))
    return { candidates: [{ content: { ...content, parts } }] }
  },
}

for (const from of wireFormats) {
  for (const client of wireFormats) {
    if (client === from) continue
    for (const stream of [false, true])
      test(`opaque state is restored if the client keeps only the calls (${from} provider, ${client} client${stream ? ', streamed' : ''})`, async () => {
        const gateway = await open()
        const response = await firstTurn(gateway.world, client, from, stream)
        returned[from](await nextTurn(gateway, client, from, callsAlone[client](response)))
      })

    test(`opaque state returns unchanged to its provider (${from} provider, ${client} client)`, async () => {
      const gateway = await open()
      const response = await firstTurn(gateway.world, client, from)
      returned[from](await nextTurn(gateway, client, from, response))
    })

    test(`opaque state from a stream returns to its provider (${from} provider, ${client} client)`, async () => {
      const gateway = await open()
      const response = await firstTurn(gateway.world, client, from, true)
      returned[from](await nextTurn(gateway, client, from, response))
    })

    test(`no other provider gets the opaque state (${from} provider, ${client} client)`, async () => {
      const gateway = await open()
      const response = await firstTurn(gateway.world, client, from)
      const other = wireFormats.filter((to) => to !== from).map((to) => ({ gateway, to }))
      for (const { gateway: there, to } of [...other, { gateway: await open(), to: from }]) {
        const sent = await nextTurn(there, client, to, response)
        for (const secret of [...SECRETS, 'signalbox-1', ...SECRETS.map(btoa), 'c2lnbmFsYm94'])
          assert.not.ok(sent.includes(secret), `${secret} in ${sent}`)
      }
    })
  }
}
