import * as ai7 from 'ai'
import { isObject, tryParseJson } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { MODEL, openBefore } from '../../pipeline/support/sdk/gateway.ts'
import { fakeUpstream, sse } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { type Heard, recordedStreams } from '../support/recordings.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const apis: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
}

/** All streams with CI=true, otherwise every third one. */
const SHARE = process.env.CI ? 1 : 3

interface Listened {
  text: string
  calls: { name: string; input: unknown }[]
  errors: unknown[]
  /** Errors in the order of the parts. */
  disorder: string[]
}

/** Reads a stream to its end. Each part with an ID starts once, continues while it is open, and ends; the finish comes last. */
async function listen(ai: typeof ai7, model: ai7.LanguageModel, tools: ai7.ToolSet): Promise<Listened> {
  const heard: Listened = { text: '', calls: [], errors: [], disorder: [] }
  const open = new Set<string>()
  let last = ''
  const onError = ({ error }: { error: unknown }) => void heard.errors.push(error)
  for await (const part of ai.streamText({ model, prompt: 'Hi', tools, maxRetries: 0, onError }).fullStream) {
    last = part.type
    if (part.type === 'text-delta') heard.text += part.text
    if (part.type === 'tool-call' && !part.providerExecuted)
      heard.calls.push({ name: part.toolName, input: part.input })
    const [, kind, step] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(part.type) ?? []
    if (!kind || !('id' in part)) continue
    const key = `${kind} ${part.id}`
    if (open.has(key) !== (step !== 'start')) heard.disorder.push(`${step} of ${key}`)
    if (step === 'start') open.add(key)
    if (step === 'end') open.delete(key)
  }
  if (heard.errors.length === 0) for (const key of open) heard.disorder.push(`${key} has no end`)
  if (last !== 'finish' && heard.errors.length === 0) heard.disorder.push(`${last} comes last`)
  return heard
}

/** Returns the calls of a response as the vendor's client reads them. */
const callsIn = ({ tool_calls: calls = [] }: Heard) =>
  calls.map(({ name, args, arguments: text = '' }) => ({ name, input: args ?? tryParseJson(text || '{}') ?? text }))

/** Normalizes the order of fields and the different forms of empty input. */
const same = (calls: readonly { name: string; input: unknown }[]) =>
  calls.map(({ name, input }) => [name, isObject(input) ? Object.entries(input).sort() : (input ?? [])])

for (const [name, ai, version] of [
  ['AI SDK 7', ai7, 4],
  ['AI SDK 6', ai6, 3],
] as const) {
  const test = suite(`recorded streams for ${name}`)

  for (const format of wireFormats)
    test(`recorded ${format} streams have the same text and calls as in the vendor's client, and each part has a start and an end`, async () => {
      const streams = recordedStreams(apis[format]).filter((_, at) => at % SHARE === 0)
      let current = ''
      const { fetch, world } = await openBefore(
        format,
        fakeUpstream(() => sse(current)),
      )
      const model = ai.createGateway({ apiKey: 'x', baseURL: `http://gateway/v${version}/ai`, fetch })(MODEL)
      for (const { name: recording, sse: recorded, heard } of streams) {
        current = recorded
        const calls = callsIn(heard)
        const any: ai7.Tool = { inputSchema: ai.jsonSchema({ type: 'object', additionalProperties: true }) }
        const told = await listen(ai, model, Object.fromEntries(calls.map((call) => [call.name, any])))
        assert.equal(told.disorder, [], recording)
        const isError = !heard.ok || !(heard.finish || heard.text || calls.length > 0) // the plain merge doesn't detect errors
        assert.is(told.errors.length > 0, isError, `${recording}: ${told.errors}`)
        if (isError) continue
        assert.is(told.text, heard.text ?? '', recording)
        if (recorded.includes('"partialArgs"')) continue // the plain merge doesn't join pieces of arguments
        assert.equal(same(told.calls), same(calls), recording)
        await world.api.health.reset()
      }
    })
}
