import * as ai7 from 'ai'
import { createSignalbox, type SignalboxCallOptions } from '../../src/ai/signalbox.ts'
import type { Gateway } from '../../src/gateway.ts'
import { answerAt } from '../kinds/samples.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { type Call, fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/** The functions that the models of both clients have in common. */
interface Provider {
  languageModel(id: string): ai7.LanguageModel
  embeddingModel(id: string): ai7.EmbeddingModel
  rerankingModel(id: string): Parameters<typeof ai7.rerank>[0]['model']
  imageModel(id: string): ai7.ImageModel
  speechModel(id: string): Parameters<typeof ai7.experimental_generateSpeech>[0]['model']
  transcriptionModel(id: string): Parameters<typeof ai7.experimental_transcribe>[0]['model']
}

/** The clients that can send call options. */
const clients: Readonly<Record<string, (gateway: Gateway) => { ai: typeof ai7; models: Provider }>> = {
  'createGateway from AI SDK 7': ({ fetch }) => ({
    ai: ai7,
    models: ai7.createGateway({ baseURL: 'http://gateway/v4/ai', apiKey: 'x', fetch }),
  }),
  'createGateway from AI SDK 6': ({ fetch }) => ({
    ai: ai6,
    models: ai6.createGateway({ baseURL: 'http://gateway/v3/ai', apiKey: 'x', fetch }),
  }),
  'signalbox/ai in AI SDK 7': (gateway) => ({ ai: ai7, models: createSignalbox(gateway) }),
  'signalbox/ai in AI SDK 6': (gateway) => ({ ai: ai6, models: createSignalbox(gateway, { specification: 'v3' }) }),
}

const toolCall = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
const calling = { index: 0, message: { role: 'assistant', content: null, tool_calls: [toolCall] } }

/** Fails for every connection except `two`. A request with tools but no tool result gets a tool call. */
function respond({ url, body, provider }: Call): Response {
  if (provider !== 'two') return json({ error: { message: 'It broke.' } }, 500)
  const answered = answerAt(url.pathname)
  if (answered) return answered
  const { stream, tools, messages } = JSON.parse(body)
  if (tools && messages.length < 3)
    return json({ ...chatResponse(), choices: [{ ...calling, finish_reason: 'tool_calls' }] })
  return stream ? sse(chatEvents()) : json(chatResponse())
}

for (const [name, open] of Object.entries(clients)) {
  const test = suite(`providerOptions.signalbox with ${name}`)

  async function openCall() {
    const upstream = fakeUpstream(respond)
    const { gateway, recorded } = await openWorld({ fetch: upstream, connections: ['one', 'two'] })
    return { upstream, recorded, ...open(gateway) }
  }

  const signalbox: SignalboxCallOptions = {
    models: ['one/x', { model: 'two/x', params: { maxTokens: 7 } }],
    user: 'me',
  }
  const requestOptions = { providerOptions: { signalbox }, maxRetries: 0 }

  test("text generation and streaming use the call's models", async () => {
    const { ai, models, upstream } = await openCall()
    const model = models.languageModel('said')
    const full = await ai.generateText({ ...requestOptions, model, prompt: 'Hi' })
    assert.equal([full.text, full.warnings], ['Hello', []])
    assert.is(Object(full.providerMetadata?.signalbox).target, 'two/x')
    const streamed = ai.streamText({ ...requestOptions, model, prompt: 'Hi' })
    assert.is(await streamed.text, 'Hello there, world')
    assert.equal(upstream.providers, ['one', 'two', 'one', 'two'])
    assert.equal(
      upstream.calls.map(({ body }) => JSON.parse(body).max_tokens),
      [undefined, 7, undefined, 7],
    )
  })

  test("every step of a tool call loop uses the call's models", async () => {
    const { ai, models, upstream, recorded } = await openCall()
    const tools = {
      look: ai.tool({ inputSchema: ai.jsonSchema<object>({ type: 'object' }), execute: async () => 'seen' }),
    }
    const model = models.languageModel('said')
    const { text, steps } = await ai.generateText({
      ...requestOptions,
      model,
      prompt: 'Hi',
      tools,
      stopWhen: ai.isStepCount(3),
    })
    assert.equal([text, steps.length], ['Hello', 2])
    assert.equal(upstream.providers, ['one', 'two', 'one', 'two'])
    assert.equal(
      recorded.requests.map(({ model }) => model),
      ['said', 'said'],
    )
  })

  test("every model kind uses the call's models", async () => {
    const { ai, models: of, upstream } = await openCall()
    const { experimental_generateSpeech: speak, experimental_transcribe: transcribe } = ai
    const models = ['one/x', 'two/x']
    const options = { maxRetries: 0, providerOptions: { signalbox: { models, retryAmbiguous: true } } }
    await ai.embed({ ...options, model: of.embeddingModel('said'), value: 'Hi' })
    await ai.rerank({
      ...options,
      model: of.rerankingModel('said'),
      query: 'red',
      documents: ['a tree', 'a red fruit'],
    })
    await ai.generateImage({ ...options, model: of.imageModel('said'), prompt: 'a walk' })
    await speak({ ...options, model: of.speechModel('said'), text: 'Hi' })
    await transcribe({ ...options, model: of.transcriptionModel('said'), audio: wav })
    assert.equal(
      upstream.providers.filter((provider) => provider === 'two'),
      Array.from({ length: 5 }, () => 'two'),
    )
  })

  test('an error about the options contains the path of the invalid field', async () => {
    const { ai, models, upstream } = await openCall()
    const model = models.languageModel('said')
    const providerOptions = { signalbox: { timeoutMs: 'soon' } }
    const reason = await ai.generateText({ model, prompt: 'Hi', providerOptions }).catch((error: unknown) => error)
    assert.equal([Object(reason).statusCode, upstream.calls.length], [400, 0])
    assert.match(String(reason), '"providerOptions.signalbox.timeoutMs" must be a whole number')
  })
}
