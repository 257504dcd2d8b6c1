import type { ProviderV3, ProviderV4 } from '@ai-sdk/provider'
import * as ai7 from 'ai'
import { createSignalbox, type Signalbox } from '../../src/ai/signalbox.ts'
import type { Gateway } from '../../src/gateway.ts'
import { answerAt } from '../kinds/samples.ts'
import { wav } from '../kinds/transcription/sample.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { ai6 } from '../pipeline/support/sdk/clients/ai.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

/* Compiles only if the provider fits the interfaces of both versions, and can replace a provider of either version. */
export const checkTypes = (four: Signalbox, three: Signalbox<'v3'>, gateway: Gateway) => {
  const [provider, provider3]: [ProviderV4, ProviderV3] = [four, three]
  const created: ProviderV4 | ProviderV3 = createSignalbox(gateway)
  const registry = ai7.createProviderRegistry({ signalbox: createSignalbox(gateway), three })
  return [
    provider,
    provider3,
    created,
    registry.languageModel('three:fast'),
    registry.embeddingModel('signalbox:one/e'),
  ]
}

/** The functions of each `ai` version that take a provider. AI SDK 6's have the types of version 7 here, which also accept a provider for 6. */
const generations = [
  { name: 'AI SDK 7', ai: ai7, specification: 'v4' },
  { name: 'AI SDK 6', ai: ai6, specification: 'v3' },
] as const

for (const { name, ai, specification } of generations) {
  const test = suite(`signalbox/ai as a provider in ${name}`)
  const once = { maxRetries: 0 } as const

  async function openProvider() {
    const upstream = fakeUpstream(({ url }) => answerAt(url.pathname) ?? json(chatResponse()))
    const { gateway, recorded } = await openWorld({
      fetch: upstream,
      connections: ['one'],
      combos: { fast: ['one/m'] },
    })
    const signalbox = createSignalbox(gateway, { specification }) as Signalbox // typed as in AI SDK 7
    return { signalbox, names: () => recorded.requests.map(({ model }) => model) }
  }

  /** Calls one model of each kind by name. */
  async function callEveryKind(
    models: Pick<ProviderV4, 'languageModel' | 'embeddingModel' | 'imageModel'> & Others,
    at = '',
  ) {
    const { experimental_generateSpeech: speak, experimental_transcribe: transcribe } = ai
    await ai.generateText({ ...once, model: models.languageModel(`${at}fast`), prompt: 'Hi' })
    await ai.embed({ ...once, model: models.embeddingModel(`${at}one/e`), value: 'Hi' })
    await ai.generateImage({ ...once, model: models.imageModel(`${at}one/i`), prompt: 'a walk' })
    const reranking = models.rerankingModel?.(`${at}one/r`)
    const speech = models.speechModel?.(`${at}one/s`)
    const transcription = models.transcriptionModel?.(`${at}one/t`)
    assert.ok(reranking && speech && transcription)
    await ai.rerank({ ...once, model: reranking, query: 'red', documents: ['a tree', 'a red fruit'] })
    await speak({ ...once, model: speech, text: 'Hi' })
    await transcribe({ ...once, model: transcription, audio: wav })
  }
  type Others = Pick<ProviderV4, 'rerankingModel' | 'speechModel' | 'transcriptionModel'>

  const ALL = ['fast', 'one/e', 'one/i', 'one/r', 'one/s', 'one/t']

  test('a registry creates models of every kind', async () => {
    const { signalbox, names } = await openProvider()
    const registry = ai.createProviderRegistry({ signalbox })
    const { text } = await ai.generateText({ ...once, model: registry.languageModel('signalbox:fast'), prompt: 'Hi' })
    assert.is(text, 'Hello')
    await callEveryKind(registry as unknown as ProviderV4, 'signalbox:')
    assert.equal(names(), ['fast', ...ALL])
  })

  test('a custom provider falls back to Signalbox', async () => {
    const { signalbox, names } = await openProvider()
    const languageModels = { careful: signalbox(['one/m', 'one/other']) }
    const provider = ai.customProvider({ languageModels, fallbackProvider: signalbox })
    await ai.generateText({ ...once, model: provider.languageModel('careful'), prompt: 'Hi' })
    await callEveryKind(provider as ProviderV4)
    assert.equal(names(), ['one/m, one/other', ...ALL])
  })

  test('middleware can wrap Signalbox models', async () => {
    const { signalbox, names } = await openProvider()
    const prompts: unknown[] = []
    const middleware: Parameters<typeof ai.wrapProvider>[0]['languageModelMiddleware'] = {
      specificationVersion: specification as 'v4',
      transformParams: async ({ params }) => {
        prompts.push(params.prompt)
        return params
      },
    }
    await callEveryKind(ai.wrapProvider({ provider: signalbox, languageModelMiddleware: middleware }))
    assert.equal([names(), prompts.length], [ALL, 1])
  })

  test('the default provider creates models from plain names', async () => {
    const { signalbox, names } = await openProvider()
    const before = globalThis.AI_SDK_DEFAULT_PROVIDER
    globalThis.AI_SDK_DEFAULT_PROVIDER = signalbox
    try {
      const { text } = await ai.generateText({ ...once, model: 'fast', prompt: 'Hi' })
      const { embedding } = await ai.embed({ ...once, model: 'one/e', value: 'Hi' })
      const { ranking } = await ai.rerank({
        ...once,
        model: 'one/r',
        query: 'red',
        documents: ['a tree', 'a red fruit'],
      })
      assert.equal(
        [text, embedding, ranking.length, names()],
        ['Hello', [0.25, -0.5, 1], 1, ['fast', 'one/e', 'one/r']],
      )
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = before
    }
  })

  test('textEmbeddingModel, the old method name, still creates embedding models', async () => {
    const { signalbox, names } = await openProvider()
    await ai.embed({ ...once, model: signalbox.textEmbeddingModel('one/e'), value: 'Hi' })
    assert.equal([signalbox.specificationVersion, names()], [specification, ['one/e']])
  })
}
