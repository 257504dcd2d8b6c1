import { isObject, type JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { questions } from '../../pipeline/support/sample-requests.ts'
import { fakeUpstream, getBody, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { isCi, times } from '../../support/ci.ts'
import { assert, suite } from '../../support/suite.ts'
import { clients, type Understood, wholeClients } from '../support/clients.ts'
import { getPayloads, listRecorded, merge, simplify } from './support/recorded.ts'

const test = suite('recorded Converse exchanges for clients of every format')

interface Case {
  name: string
  response: Response
  isStream: boolean
  /** `undefined` if the response was truncated. */
  expected: Understood | undefined
}

/** The content of the recordings, in client-neutral terms. */
function* cases(): Generator<Case> {
  const shapes = new Set<string>()
  for (const { name, status, response, bytes } of listRecorded()) {
    if (bytes) {
      const { stop, usage, text, thoughts, calls } = merge(getPayloads(bytes))
      const called = calls.map(([, tool, args]) => ({ name: tool, args: JSON.parse(String(args || '{}')) }))
      const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
      const contents = { text, reasoning: thoughts, calls: called }
      const expected = stop === undefined ? undefined : { ...contents, ...getEnd(stop, called, usage) }
      yield { name, response: new Response(getBody(pieces(bytes)), { headers }), isStream: true, expected }
    } else if (status === 200 && isObject(response) && isObject(response.output) && isObject(response.output.message)) {
      if (shapes.size === shapes.add(getShape(response)).size) continue
      const { text, thoughts, calls } = simplify(response.output.message)
      const called = calls.map(([, tool, args]) => ({ name: tool, args }))
      const expected = {
        text,
        reasoning: thoughts,
        calls: called,
        ...getEnd(response.stopReason, called, response.usage),
      }
      yield { name, response: json(response), isStream: false, expected }
    }
  }
}

/** Identifies responses that differ only in their text, which are tested once. */
const getShape = (response: JsonObject): string =>
  JSON.stringify(response, (name, value) =>
    typeof value === 'object' || /^(?:stopReason|type)$/.test(name) ? value : '',
  )

function getEnd(stop: unknown, calls: readonly unknown[], usage: unknown) {
  const count = (name: string) => (isObject(usage) && typeof usage[name] === 'number' ? usage[name] : 0)
  const finish = stop === 'max_tokens' ? 'length' : calls.length > 0 ? 'calls' : 'stop'
  return {
    finish: finish as Understood['finish'],
    inputTokens: count('inputTokens') + count('cacheReadInputTokens') + count('cacheWriteInputTokens'),
    outputTokens: count('outputTokens'),
  }
}

function* pieces(bytes: Uint8Array) {
  for (let index = 0; index < bytes.length; index += 61) yield bytes.subarray(index, index + 61)
}

const catalog = { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } } as const
const connections = [{ provider: 'bedrock', providerSpecificData: { region: 'us-east-1' } }]

/** Selects all of the recordings in CI, and a separate share for each client locally. */
const getShare = (format: WireFormat) =>
  [...cases()].filter((_, index) => isCi || index % wireFormats.length === wireFormats.indexOf(format))

for (const format of wireFormats) {
  test(`recorded Converse responses keep their meaning for ${format} clients`, async () => {
    let reply = json({})
    const world = await openWorld({ fetch: fakeUpstream(() => reply), catalog, connections })
    const differing: JsonObject[] = []
    let count = 0
    for (const { name, isStream, expected, response: recording } of getShare(format)) {
      reply = recording
      const response = await world.post(
        ...questions[format]('bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0', isStream),
      )
      const result = await (isStream ? clients : wholeClients)[format](response).catch(String)
      count++
      if (expected ? JSON.stringify(result) !== JSON.stringify(expected) : typeof result !== 'string')
        differing.push({ name, received: result, expected })
      if (!expected) await world.api.health.reset()
    }
    assert.equal(differing.slice(0, 5), [], `${differing.length} of ${count} differ`)
    assert.ok(count > times(72), String(count))
  })
}
