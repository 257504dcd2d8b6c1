import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { endpoints } from '../../src/protocols/kinds/kinds.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { randomCases } from '../support/ci.ts'
import { neverFails } from '../support/hostile-values.ts'
import { suite } from '../support/suite.ts'
import { getSample } from './samples.ts'
import { EXTRA, RICH } from './support/rich-bodies.ts'

const test = suite('arbitrary JSON values in any field')

/** The number of runs per endpoint and model. */
const RUNS = randomCases(400, 60)

/** Vendors with different formats, by kind. Each has a connection. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  embedding: [
    ...['openai/text-embedding-3-small', 'cohere/embed-v4.0', 'voyage/voyage-3.5', 'google/gemini-embedding-001'],
    ...['google/gemini-embedding-2', 'mistral/mistral-embed', 'jina/jina-embeddings-v4', 'together/m', 'nvidia-nim/m'],
    ...[
      'openrouter/openai/text-embedding-3-small',
      'bedrock/amazon.titan-embed-text-v2:0',
      'bedrock/cohere.embed-v4:0',
    ],
  ],
  image: [
    'openai/gpt-image-1',
    'google/gemini-3.1-flash-image',
    'openrouter/openai/gpt-image-1',
    'together/flux',
    'xai/grok-imagine',
  ],
  tts: [
    'openai/tts-1',
    'elevenlabs/eleven_v3',
    'deepgram/aura-2',
    'google/gemini-2.5-flash-preview-tts',
    'mistral/voxtral-mini-tts',
    'groq/orpheus',
    'together/kokoro',
  ],
  stt: [
    'openai/whisper-1',
    'elevenlabs/scribe_v2',
    'deepgram/nova-3',
    'google/gemini-3-flash',
    'mistral/voxtral-mini',
    'groq/whisper',
    'openrouter/openai/whisper-1',
  ],
  rerank: [
    'cohere/rerank-v4',
    'voyage/rerank-2.5',
    'jina/jina-reranker-v3',
    'together/rerank',
    'openrouter/cohere/rerank-v3.5',
  ],
  moderation: ['openai/omni-moderation-latest', 'mistral/mistral-moderation-latest'],
  webSearch: [
    'perplexity-agent/search',
    'tavily/search',
    'exa/search',
    'brave/search',
    'serper/search',
    'firecrawl/search',
    'jina/search',
  ],
  webFetch: ['tavily/extract', 'exa/contents', 'firecrawl/scrape', 'jina/reader'],
  imageToText: ['mistral/mistral-ocr-latest'],
}

const connections = [
  ...new Set(
    Object.values(MODELS)
      .flat()
      .map((model) => model.slice(0, model.indexOf('/'))),
  ),
].map((provider) => ({
  provider,
  ...(provider === 'bedrock' && { providerSpecificData: { region: 'us-east-1' } }),
}))

for (const endpoint of endpoints.filter(hasAdapters)) {
  const { path, operation, client, version } = endpoint
  const sample = getSample(endpoint)?.body ?? {}
  const body = { ...sample, ...RICH[operation.name]?.[client], ...EXTRA[operation.name] }
  test(`${path} (${client}) never causes a gateway error`, async () => {
    const upstream = fakeUpstream(() => json({ error: { message: 'no' } }, 400))
    const world = await openWorld({ fetch: upstream, catalog: defaultCatalog, connections })
    const limits = { tokens: { day: 1_000_000_000_000 } }
    const { key } = await world.api.keys.create({ name: 'limited', limits }) // limits make the gateway estimate each request's usage
    for (const [index, model] of (MODELS[operation.kind] ?? []).entries()) {
      const { model: name, version: ofVersion = '' } = endpoint.headers ?? {}
      const headers = { authorization: `Bearer ${key}`, ...(name && { [name]: model, [ofVersion]: String(version) }) }
      const isElsewhere = path.includes('{model}') || name !== undefined
      await neverFails(
        {
          at: path.replace('{model}', model),
          body: isElsewhere ? body : { ...body, model },
          isEach: index < 2,
          headers,
          runs: RUNS,
        },
        world,
      )
    }
  })
}
