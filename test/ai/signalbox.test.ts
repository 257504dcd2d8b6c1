import type {
  EmbeddingModelV3,
  EmbeddingModelV4,
  ImageModelV3,
  ImageModelV4,
  LanguageModelV3,
  LanguageModelV4,
  RerankingModelV3,
  RerankingModelV4,
  SpeechModelV3,
  SpeechModelV4,
  TranscriptionModelV3,
  TranscriptionModelV4,
} from '@ai-sdk/provider'
import * as ai7 from 'ai'
import { createSignalbox, type NamedModel, type Signalbox, type Specification } from '../../src/ai/signalbox.ts'
import type { Gateway } from '../../src/gateway.ts'
import { getBytes, png } from '../kinds/image/images.ts'
import { answerAt } from '../kinds/samples.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { fakeUpstream, json, never, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/* Compiles only if the models fit the interfaces of both versions. */
export const checkTypes = (four: Signalbox, three: Signalbox<'v3'>) => {
  const language: LanguageModelV4 = four('fast')
  const embedding: EmbeddingModelV4 = four.embeddingModel('e')
  const reranking: RerankingModelV4 = four.rerankingModel('r')
  const language3: LanguageModelV3 = three('fast')
  const embedding3: EmbeddingModelV3 = three.embeddingModel('e')
  const reranking3: RerankingModelV3 = three.rerankingModel('r')
  const image: ImageModelV4 = four.imageModel('i')
  const speech: SpeechModelV4 = four.speechModel('s')
  const transcription: TranscriptionModelV4 = four.transcriptionModel('t')
  const image3: ImageModelV3 = three.imageModel('i')
  const speech3: SpeechModelV3 = three.speechModel('s')
  const transcription3: TranscriptionModelV3 = three.transcriptionModel('t')
  const others = [image, speech, transcription, image3, speech3, transcription3]
  return [language, embedding, reranking, language3, embedding3, reranking3, ...others]
}

/** The ways to reach a gateway, for both versions. */
const ways = {
  'in process': <S extends Specification>(gateway: Gateway, _: string, specification: S) =>
    createSignalbox(gateway, { specification }),
  'in process with a key': <S extends Specification>(gateway: Gateway, apiKey: string, specification: S) =>
    createSignalbox(gateway, { apiKey, specification }),
  'over HTTP': <S extends Specification>(gateway: Gateway, apiKey: string, specification: S) =>
    createSignalbox({ baseURL: 'http://gateway/', apiKey, specification, fetch: gateway.fetch }),
}

for (const [way, open] of Object.entries(ways))
  for (const [ai, specification] of [
    [ai7, 'v4'],
    [ai6, 'v3'],
  ] as const) {
    const { experimental_generateSpeech: speak, experimental_transcribe: transcribe } = ai
    const test = suite(`signalbox/ai ${way}, ${specification}`)

    const openSignalbox = async (upstream: ReturnType<typeof fakeUpstream>) => {
      const { gateway, api, ...world } = await openWorld({
        fetch: upstream,
        connections: ['one', 'two'],
        combos: { fast: ['one/m', 'two/m'] },
      })
      await api.settings.update({ requireApiKey: true })
      const { key } = await api.keys.create({ name: 'k' })
      return { ...world, api, signalbox: open(gateway, key, specification) as Signalbox } // AI SDK 7 also accepts V3
    }

    test('text generation and streaming work while API keys are required', async () => {
      const { signalbox } = await openSignalbox(
        fakeUpstream(({ body }) => (JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse()))),
      )
      const full = await ai.generateText({ model: signalbox('fast'), prompt: 'Hi', maxRetries: 0 })
      const streamed = ai.streamText({ model: signalbox('fast'), prompt: 'Hi', maxRetries: 0 })
      assert.ok(full.text.length > 0)
      assert.ok((await streamed.text).length > 0)
      assert.ok((await streamed.response).timestamp instanceof Date)
      assert.is(Object(full.providerMetadata?.signalbox).target, 'one/m')
      assert.is(Object((await streamed.providerMetadata)?.signalbox).target, 'one/m')
    })

    test('the gateway creates embeddings and reranks documents', async () => {
      const { signalbox } = await openSignalbox(
        fakeUpstream(({ url }) => answerAt(url.pathname) ?? json(chatResponse())),
      )
      const { embedding } = await ai.embed({ model: signalbox.embeddingModel('one/e'), value: 'Hi' })
      assert.equal(embedding, [0.25, -0.5, 1])
      const requestOptions = { query: 'red fruit', documents: ['a tree', 'a red fruit'], topN: 1 }
      const { ranking } = await ai.rerank({ ...requestOptions, model: signalbox.rerankingModel('one/r') })
      assert.is(ranking[0]?.originalIndex, 1)
    })

    test('the gateway generates images and speech, and transcribes audio', async () => {
      const { signalbox } = await openSignalbox(fakeUpstream(({ url }) => answerAt(url.pathname) ?? json({})))
      const requestOptions = { n: 12, size: '1024x1024' as const, maxRetries: 0 }
      const prompt = { text: 'a walk', images: [getBytes(png)] }
      const created = await ai.generateImage({ ...requestOptions, model: signalbox.imageModel('one/i'), prompt })
      assert.equal([created.image.base64, created.responses.length], [png, 2])
      assert.is(Object(created.providerMetadata.signalbox).images.length, 2)
      const { audio } = await speak({ model: signalbox.speechModel('one/s'), text: 'Hi', maxRetries: 0 })
      assert.is(new TextDecoder().decode(audio.uint8Array), 'sound')
      const model = signalbox.transcriptionModel('one/t')
      const received = await transcribe({ model, audio: wav, maxRetries: 0 })
      assert.equal([received.text, received.segments, received.durationInSeconds], ['Hi', [], 0.2])
      assert.ok(received.responses[0]?.timestamp instanceof Date)
      assert.is(received.responses[0]?.modelId, 't')
    })

    test("a model list is tried in order with its entries' parameters, for several kinds", async () => {
      const upstream = fakeUpstream(({ url, body, provider }) => {
        if (provider === 'one') return json({ error: { message: 'It broke.' } }, 500)
        return answerAt(url.pathname) ?? (JSON.parse(body).stream ? sse(chatEvents()) : json(chatResponse()))
      })
      const { signalbox, recorded } = await openSignalbox(upstream)
      const model = signalbox(['one/m', { model: 'two/m', params: { maxTokens: 7 } }, 'three/ü'])
      assert.is(model.modelId, 'one/m, two/m, three/ü')
      const { text, providerMetadata } = await ai.generateText({ model, prompt: 'Hi', maxRetries: 0 })
      assert.is(text, 'Hello')
      assert.is(Object(providerMetadata?.signalbox).target, 'two/m')
      assert.equal(
        Object(providerMetadata?.signalbox).attempts.map(({ target }: { target: string }) => target),
        ['one/m', 'two/m'],
      )
      assert.is(JSON.parse(upstream.calls[1]?.body ?? '').max_tokens, 7)
      assert.is(recorded.requests[0]?.model, 'one/m, two/m, three/?')
      const streamed = ai.streamText({ model, prompt: 'Hi', maxRetries: 0 })
      assert.ok((await streamed.text).length > 0)
      const embedded = signalbox.embeddingModel(['one/e', 'two/e'])
      assert.equal((await ai.embed({ model: embedded, value: 'Hi', maxRetries: 0 })).embedding, [0.25, -0.5, 1])
      const ranked = signalbox.rerankingModel(['one/r', 'two/r'])
      await ai.rerank({ model: ranked, query: 'red', documents: ['a tree', 'a red fruit'], maxRetries: 0 })
      await ai.generateImage({ model: signalbox.imageModel(['two/i']), prompt: 'a walk', maxRetries: 0 })
    })

    test('a model list falls back after filtered responses and schema mismatches, streamed or not', async () => {
      const cut = { index: 0, message: { role: 'assistant', content: 'I' }, finish_reason: 'content_filter' }
      const upstream = fakeUpstream(({ provider, body }) => {
        const text = provider === 'two' ? '{"city":"Ulm"}' : 'It is Ulm.'
        return JSON.parse(body).stream ? sse(chatEvents(text)) : json(chatResponse(text))
      })
      const { signalbox } = await openSignalbox(upstream)
      const properties = { city: { type: 'string' } } as const
      const schema = ai.jsonSchema<{ city: string }>({ type: 'object', properties, required: ['city'] })
      const model = signalbox(['one/m', 'two/m'], { on: ['content', 'schema'] })
      const callOptions = { model, prompt: 'Hi', maxRetries: 0, output: ai.Output.object({ schema }) }
      assert.equal((await ai.generateText(callOptions)).output, { city: 'Ulm' })
      assert.equal(await ai.streamText(callOptions).output, { city: 'Ulm' })
      assert.equal(upstream.providers, ['one', 'two', 'one', 'two'])

      const filtering = fakeUpstream(({ provider }) =>
        json(provider === 'one' ? { ...chatResponse(), choices: [cut] } : chatResponse()),
      )
      const other = await openSignalbox(filtering)
      const careful = other.signalbox(['one/m', 'two/m'], { on: ['content'] })
      const { finishReason, providerMetadata } = await ai.generateText({ model: careful, prompt: 'Hi', maxRetries: 0 })
      assert.is(finishReason, 'stop')
      assert.equal(
        Object(providerMetadata?.signalbox).attempts.map(({ outcome }: { outcome: string }) => outcome),
        ['filtered', 'answered'],
      )
    })

    test('options can be bound to a model name, and a call can use its own list', async () => {
      const upstream = fakeUpstream(({ provider }) => (provider === 'one' ? json({}, 500) : json(chatResponse())))
      const { signalbox } = await openSignalbox(upstream)
      const named = signalbox('fast', { maxAttempts: 1 })
      const reason = await ai.generateText({ model: named, prompt: 'Hi' }).catch((error: unknown) => error)
      assert.equal([Object(reason).statusCode, upstream.calls.length], [500, 1])
      const headers = { 'x-signalbox-models': 'two/m' }
      await ai.generateText({ model: named, prompt: 'Hi', headers })
      assert.equal(upstream.providers, ['one', 'two'])
      const wrong = signalbox([{ model: 'two/m', params: { topP: 5 } }])
      const rejected = await ai.generateText({ model: wrong, prompt: 'Hi' }).catch((error: unknown) => error)
      assert.match(String(rejected), /models\[0\]\.params\.topP/)
      const lists: [list: unknown, place: string][] = [
        [[], '"models" must'],
        [[''], '"models[0]" must'],
        [[null], '"models[0]" must'],
        [['two/m', undefined], '"models[1]" must'],
        [[{}], '"models[0].model" is required'],
        [5, '"models[0]" must'],
        [undefined, '"models[0]" must'],
      ]
      for (const [list, location] of lists) {
        const model = signalbox(list as NamedModel) // JavaScript callers can pass this
        const blank = await ai.generateText({ model, prompt: 'Hi' }).catch((error: unknown) => error)
        assert.match(String(blank), `x-signalbox-models: ${location}`)
      }
      assert.is(upstream.calls.length, 2)
    })

    test("the AI SDK doesn't retry a request that the gateway has already tried on all targets", async () => {
      const upstream = fakeUpstream(() => json({ error: { message: 'It broke.' } }, 500))
      const { signalbox } = await openSignalbox(upstream)
      const reason = await ai.generateText({ model: signalbox('fast'), prompt: 'Hi' }).catch((error: unknown) => error)
      assert.ok(ai.APICallError.isInstance(reason), String(reason))
      assert.equal([Object(reason).isRetryable, Object(reason).statusCode, upstream.calls.length], [false, 500, 2])
    })

    test('file bytes are sent as base64', async () => {
      const upstream = fakeUpstream(() => json(chatResponse()))
      const { signalbox } = await openSignalbox(upstream)
      const data = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00])
      const content = [{ type: 'file' as const, mediaType: 'image/png', data }]
      await ai.generateText({ model: signalbox('one/m'), messages: [{ role: 'user', content }] })
      assert.match(upstream.calls[0]?.body ?? '', 'iVBORw0KGgoA')
    })

    test('aborting with a custom reason ends a stream, and the AI SDK reports the reason', async () => {
      const upstream = fakeUpstream(() => sse(chatEvents().slice(0, 2), 'hang'))
      const { signalbox } = await openSignalbox(upstream)
      const controller = new AbortController()
      const recorded: string[] = []
      const { fullStream } = ai.streamText({
        model: signalbox('one/m'),
        prompt: 'Hi',
        abortSignal: controller.signal,
        maxRetries: 0,
        onAbort: () => void recorded.push('told'),
      })
      for await (const part of fullStream) {
        if (part.type === 'text-delta') setTimeout(() => controller.abort(new Error('left')), 1)
        if (part.type === 'abort') recorded.push(String(part.reason).replace('Error: ', ''))
      }
      assert.equal([recorded, upstream.open], [['told', 'left'], 0])
    })

    test('aborting rejects with the abort reason, and ends the provider call', async () => {
      const controller = new AbortController()
      const upstream = fakeUpstream(() => {
        queueMicrotask(() => controller.abort(new Error('left')))
        return never()
      })
      const { signalbox } = await openSignalbox(upstream)
      const callOptions = { model: signalbox('one/m'), prompt: 'Hi', abortSignal: controller.signal, maxRetries: 0 }
      const reason = await ai.generateText(callOptions).catch((error: unknown) => error)
      assert.equal([String(reason), upstream.open], ['Error: left', 0])
    })
  }
