import * as ai7 from 'ai'
import { isObject, tryParseJson } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { MODEL, openBefore } from '../../pipeline/support/sdk/gateway.ts'
import { fakeUpstream, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { type Received, recordedStreams } from '../support/recordings.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const apis: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
}

/** All streams in CI, otherwise every third one. */
const SHARE = process.env.CI ? 1 : 3

interface Listened {
  text: string
  calls: { name: string; input: unknown }[]
  errors: unknown[]
  /** Errors in the order of the stream's parts. */
  disorder: string[]
}

/**
 * Reads a stream to its end. Checks that each part with an ID starts once, continues only while it is open, and ends, and that the finish comes last.
 */
async function listen(ai: typeof ai7, model: ai7.LanguageModel, tools: ai7.ToolSet): Promise<Listened> {
  const received: Listened = { text: '', calls: [], errors: [], disorder: [] }
  const open = new Set<string>()
  let last = ''
  const onError = ({ error }: { error: unknown }) => void received.errors.push(error)
  for await (const part of ai.streamText({ model, prompt: 'Hi', tools, maxRetries: 0, onError }).fullStream) {
    last = part.type
    if (part.type === 'text-delta') received.text += part.text
    if (part.type === 'tool-call' && !part.providerExecuted)
      received.calls.push({ name: part.toolName, input: part.input })
    const [, kind, step] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(part.type) ?? []
    if (!kind || !('id' in part)) continue
    const key = `${kind} ${part.id}`
    if (open.has(key) !== (step !== 'start')) received.disorder.push(`${step} of ${key}`)
    if (step === 'start') open.add(key)
    if (step === 'end') open.delete(key)
  }
  if (received.errors.length === 0) for (const key of open) received.disorder.push(`${key} has no end`)
  if (last !== 'finish' && received.errors.length === 0) received.disorder.push(`${last} comes last`)
  return received
}

/** Returns a response's calls as the vendor's client reads them. */
const getCalls = ({ tool_calls: calls = [] }: Received) =>
  calls.map(({ name, args, arguments: text = '' }) => ({ name, input: args ?? tryParseJson(text || '{}') ?? text }))

/** Normalizes the order of fields and the different forms of empty input. */
const normalize = (calls: readonly { name: string; input: unknown }[]) =>
  calls.map(({ name, input }) => [name, isObject(input) ? Object.entries(input).sort() : (input ?? [])])

for (const [name, ai, version] of [
  ['AI SDK 7', ai7, 4],
  ['AI SDK 6', ai6, 3],
] as const) {
  const test = suite(`recorded streams for ${name}`)

  for (const format of wireFormats)
    test(`recorded ${format} streams give the same text and calls as the vendor's client`, async () => {
      const streams = recordedStreams(apis[format]).filter((_, index) => index % SHARE === 0)
      let current = ''
      const { fetch, world } = await openBefore(
        format,
        fakeUpstream(() => sse(current)),
      )
      const model = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch })(MODEL)
      for (const { name: recording, sse: recorded, received } of streams) {
        current = recorded
        const calls = getCalls(received)
        const any: ai7.Tool = { inputSchema: ai.jsonSchema({ type: 'object', additionalProperties: true }) }
        const result = await listen(ai, model, Object.fromEntries(calls.map((call) => [call.name, any])))
        assert.equal(result.disorder, [], recording)
        const isError = !received.ok || !(received.finish || received.text || calls.length > 0) // the simple merge doesn't detect errors
        assert.is(result.errors.length > 0, isError, `${recording}: ${result.errors}`)
        if (isError) continue
        assert.is(result.text, received.text ?? '', recording)
        if (recorded.includes('"partialArgs"')) continue // the simple merge doesn't join argument fragments
        assert.equal(normalize(result.calls), normalize(calls), recording)
        await world.api.health.reset()
      }
    })
}
