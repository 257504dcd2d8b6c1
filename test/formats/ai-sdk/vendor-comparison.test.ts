import * as ai7 from 'ai'
import { createSignalbox } from '../../../src/ai/signalbox.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { ai6 } from '../../pipeline/support/sdk/clients/ai.ts'
import { getOutput, type ModelResponse } from '../../pipeline/support/sdk/model-output.ts'
import { fakeUpstream, json, sse } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { vendors } from './support/vendors.ts'

/*
 * Makes the same call to the same provider through the AI SDK's package for the vendor and through the gateway. The app must receive the same result,
 * complete or streamed, from both clients and in both versions.
 */

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const test = suite('the AI SDK through the gateway compared with its vendor packages')

type Result = Awaited<ReturnType<typeof ai7.generateText>>
type Part = Result['content'][number]

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const thought = { type: 'reasoning', text: 'Two cities.', signature: 'c2ln' } as const
const call = (id: string, name: string, input: Record<string, string>) => ({ type: 'call', id, name, input }) as const
const createText = (text: string): ModelResponse => ({ blocks: [{ type: 'text', text }] })

/** The model's responses, in order, and additional call options. */
const cases: Readonly<Record<string, { responses: ModelResponse[]; object?: true; formats?: WireFormat[] }>> = {
  words: { responses: [createText('Hello there.')] },
  'reasoning before text': { responses: [{ blocks: [thought, { type: 'text', text: 'Hello there.' }] }] },
  'two calls and a response': {
    responses: [
      {
        blocks: [thought, call('call_1', 'weather', { city: 'Paris' }), call('call_2', 'weather', { city: 'Oslo' })],
        finish: 'calls',
      },
      createText('Warm.'),
    ],
  },
  'a call without input': {
    responses: [{ blocks: [call('call_1', 'now', {})], finish: 'calls' }, createText('Noon.')],
  },
  'a call to an unknown tool': {
    responses: [{ blocks: [call('call_1', 'nobody', { city: 'Paris' })], finish: 'calls' }, createText('I cannot.')],
  },
  pages: {
    responses: [
      {
        blocks: [
          {
            type: 'text',
            text: 'It is so.',
            citations: [
              { url: 'https://a.test/', title: 'A' },
              { url: 'https://b.test/', title: 'B' },
            ],
          },
        ],
      },
    ],
  },
  'a response that is cut off': { responses: [{ ...createText('Hello the'), finish: 'length' }] },
  'a filtered response': { responses: [{ ...createText('Hello the'), finish: 'filter' }] },
  'a refusal': { responses: [{ blocks: [{ type: 'refusal', text: 'I will not.' }] }] },
  'a JSON object': { responses: [createText('{"city":"Paris"}')], object: true },
  'an image': {
    responses: [
      {
        blocks: [
          { type: 'text', text: 'Here.' },
          { type: 'image', data: PNG },
        ],
      },
    ],
    formats: ['gemini'],
  },
}

/** Returns a part as an app sees it. OpenAI's Chat Completions doesn't show reasoning, and the AI SDK starts some streams with an empty text. */
function summarizePart(part: Part): unknown[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [part.type, part.text]
    case 'reasoning':
      return [part.type, part.text]
    case 'source':
      return [part.type, part.sourceType === 'url' ? part.url : part.title, part.title]
    case 'file':
      return [part.type, part.file.mediaType, part.file.base64]
    case 'tool-call':
      return [part.type, part.toolName, part.input]
    case 'tool-result':
      return [part.type, part.toolName, part.output]
    case 'tool-error':
      return [part.type, part.toolName]
    default:
      return []
  }
}

interface RequestInput {
  ai: typeof ai7
  model: ai7.LanguageModel
  stream: boolean
  object: boolean
}

/** Returns what an app receives, step by step. */
async function collectResult({ ai, model, stream, object }: RequestInput) {
  const execute = async (input: unknown) => ({ input, celsius: 21 })
  const schema = ai.jsonSchema<{ city: string }>(city as Parameters<typeof ai7.jsonSchema>[0])
  const nothing = ai.jsonSchema<object>({ type: 'object', properties: {} })
  const callOptions = {
    model,
    maxRetries: 0,
    prompt: 'Hi',
    stopWhen: ai.isStepCount(3),
    tools: { weather: ai.tool({ inputSchema: schema, execute }), now: ai.tool({ inputSchema: nothing, execute }) },
  }
  const shaped = object ? { ...callOptions, output: ai.Output.object({ schema }) } : callOptions
  const result = stream ? ai.streamText(shaped) : await ai.generateText(shaped)
  const steps = (await result.steps).map((step) => ({
    content: step.content.map(summarizePart).filter(({ length }) => length > 0),
    finish: [step.finishReason, step.rawFinishReason],
    tokens: getTokens(step.usage),
  }))
  return { steps, total: getTokens(await result.totalUsage), output: object ? await result.output : undefined }
}

const getTokens = ({ inputTokens, outputTokens, inputTokenDetails, outputTokenDetails }: ai7.LanguageModelUsage) => [
  inputTokens,
  outputTokens,
  inputTokenDetails.cacheReadTokens,
  inputTokenDetails.noCacheTokens,
  outputTokenDetails.reasoningTokens ?? 0,
]

type Received = Awaited<ReturnType<typeof collectResult>>

const withoutThoughts = ({ steps, ...rest }: Received) => ({
  ...rest,
  steps: steps.map((step) => ({ ...step, content: step.content.filter(([type]) => type !== 'reasoning') })),
})

for (const format of wireFormats)
  test(`an app gets the same result with and without the gateway (${format} provider)`, async () => {
    const { provider, model, create } = vendors[format]
    let responses: ModelResponse[] = []
    let requestCount = 0
    const upstream = fakeUpstream(({ url, body }) => {
      const response = responses[requestCount++] ?? responses.at(-1) ?? createText('')
      const { whole, events } = getOutput(format, response)
      return url.pathname.includes(':stream') || JSON.parse(body).stream ? sse(events) : json(whole)
    })
    const { gateway } = await openWorld({
      fetch: upstream,
      catalog: { [provider]: { baseUrl: 'http://one.test/v1', format, models: [{ id: model }] } },
      connections: [provider],
    })
    const name = `${provider}/${model}`
    const createSettings = (version: number) => ({
      apiKey: 'x',
      baseURL: `http://gateway/v${version}/ai`,
      fetch: gateway.fetch,
    })
    const clients = [
      { ai: ai7, model: ai7.createGateway(createSettings(4))(name) },
      { ai: ai6, model: ai6.createGateway(createSettings(3))(name) },
      { ai: ai7, model: createSignalbox(gateway)(name) },
      { ai: ai6, model: createSignalbox(gateway, { specification: 'v3' })(name) },
    ]
    for (const [label, { formats = wireFormats, object = false, ...output }] of Object.entries(cases)) {
      if (!formats.includes(format)) continue
      for (const stream of [false, true]) {
        const retry = () => {
          responses = output.responses
          requestCount = 0
        }
        retry()
        const expected = await collectResult({ ai: ai7, model: create(upstream)(model), stream, object })
        for (const [index, client] of clients.entries()) {
          retry()
          const received = await collectResult({ ...client, stream, object })
          const shown = format === 'openai-chat' ? withoutThoughts(received) : received
          assert.equal(shown, expected, `${label}, ${stream ? 'streamed' : 'not streamed'}, client ${index}`)
        }
      }
    }
  })
