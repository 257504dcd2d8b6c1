import { serializeForm } from '../../src/lib/multipart.ts'
import type { Catalog, Price } from '../../src/types.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { wav } from './audio-files.ts'

const test = suite('kinds with zero or missing usage')

const createCatalog = (name: string, type: string | undefined, price: Price, id = 'm') => ({
  [name]: { baseUrl: `http://${name}.test/v1`, models: [{ id, ...(type && { type }), price }] },
})

const TOKENS = { input: 100, output: 100 }
const catalog = {
  ...createCatalog('one', 'embedding', TOKENS),
  ...createCatalog('cohere', 'embedding', TOKENS),
  ...createCatalog('google', 'embedding', TOKENS),
  ...createCatalog('ranks', 'rerank', TOKENS),
  ...createCatalog('searches', 'rerank', { search: 0.002 }),
  ...createCatalog('moderates', 'moderation', TOKENS),
  ...createCatalog('hears', 'stt', { second: 0.0001 }),
  ...createCatalog('listens', 'stt', TOKENS),
  ...createCatalog('elevenlabs', 'tts', { character: 0.0001 }),
  ...createCatalog('speaks', 'tts', TOKENS),
  ...createCatalog('paints', 'image', TOKENS),
  ...createCatalog('reads', undefined, { page: 0.002 }),
  ...createCatalog('tavily', 'webSearch', { search: 0.002, credit: 0.002, page: 0.002 }, 'search'),
  ...createCatalog('exa', 'webSearch', { search: 0.002, page: 0.002 }, 'search'),
} as unknown as Catalog // model types are plain strings here

const text = 'Some words that are embedded, ranked, spoken and judged. '.repeat(10)
const documents = [text, text]
const audio = (extra: object = {}) => {
  const fields = Object.entries(extra).map(([name, value]) => ({ name, value: String(value) }))
  const file = { name: 'file', fileName: 'a.wav', type: 'audio/wav', bytes: wav(30) }
  return { form: serializeForm([{ name: 'model', value: 'MODEL' }, ...fields, file]) }
}

interface Row {
  model: string
  path: string
  body: object
  /** Responses to the request that report no usage. */
  responses: ReadonlyArray<() => Response>
}

const results = documents.map((_, index) => ({ index, relevance_score: 0.5 - index / 10 }))
const data = [{ object: 'embedding', index: 0, embedding: [0.5, 1] }]
const image = 'aGVsbG8='
const bytes = (headers: Record<string, string>) => () =>
  new Response(new Uint8Array(2_000), { headers: { 'content-type': 'audio/mpeg', ...headers } })
const respondEach = (...responses: object[]) => responses.map((response) => () => json(response))
const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`

const NO_TOKENS = [{ usage: { prompt_tokens: 0, total_tokens: 0, cost: 0 } }, { usage: {} }, {}]

const rows: Readonly<Record<string, Row>> = {
  embeddings: {
    model: 'one/m',
    path: '/v1/embeddings',
    body: { input: text },
    responses: respondEach(...NO_TOKENS.map((extra) => ({ object: 'list', data, model: 'm', ...extra }))),
  },
  'Cohere embeddings': {
    model: 'cohere/m',
    path: '/v1/embeddings',
    body: { input: text },
    responses: respondEach(
      { embeddings: { float: [[0.5, 1]] }, meta: { billed_units: { input_tokens: 0 } } },
      { embeddings: { float: [[0.5, 1]] } },
    ),
  },
  'reranking by tokens': {
    model: 'ranks/m',
    path: '/v1/rerank',
    body: { query: 'words', documents },
    responses: respondEach(...NO_TOKENS.map((extra) => ({ results, ...extra }))),
  },
  'reranking by searches': {
    model: 'searches/m',
    path: '/v1/rerank',
    body: { query: 'words', documents },
    responses: respondEach({ results, meta: { billed_units: { search_units: 0 } } }, { results }),
  },
  moderation: {
    model: 'moderates/m',
    path: '/v1/moderations',
    body: { input: text },
    responses: respondEach(
      ...NO_TOKENS.map((extra) => ({ id: 'a', model: 'm', results: [{ flagged: false, categories: {} }], ...extra })),
    ),
  },
  'transcription by seconds': {
    model: 'hears/m',
    path: '/v1/audio/transcriptions',
    body: audio(),
    responses: [
      ...respondEach(
        { text, usage: { type: 'duration', seconds: 0 } },
        { text, duration: 0 },
        { text, usage: { type: 'tokens', input_tokens: 0, output_tokens: 0 }, duration: 0 },
      ),
    ],
  },
  'transcription by tokens': {
    model: 'listens/m',
    path: '/v1/audio/transcriptions',
    body: audio(),
    responses: respondEach({ text, usage: { type: 'tokens', input_tokens: 0, output_tokens: 0 } }, { text }),
  },
  'streamed transcription': {
    model: 'listens/m',
    path: '/v1/audio/transcriptions',
    body: audio({ stream: true }),
    responses: [
      () =>
        sse([
          event({ type: 'transcript.text.delta', delta: text }),
          event({ type: 'transcript.text.done', text, usage: { type: 'tokens', input_tokens: 0, output_tokens: 0 } }),
        ]),
    ],
  },
  'speech by characters': {
    model: 'elevenlabs/m',
    path: '/v1/audio/speech',
    body: { input: text, voice: 'alloy' },
    responses: [bytes({ 'character-cost': '0' })],
  },
  'speech by tokens': {
    model: 'speaks/m',
    path: '/v1/audio/speech',
    body: { input: text, voice: 'alloy' },
    responses: [bytes({})],
  },
  images: {
    model: 'paints/m',
    path: '/v1/images/generations',
    body: { prompt: text },
    responses: respondEach(
      { created: 1, data: [{ b64_json: image }], usage: { input_tokens: 0, output_tokens: 0, cost: 0 } },
      { created: 1, data: [{ b64_json: image }] },
    ),
  },
  'streamed images': {
    model: 'paints/m',
    path: '/v1/images/generations',
    body: { prompt: text, stream: true },
    responses: [
      () =>
        sse([
          event({
            type: 'image_generation.completed',
            b64_json: image,
            usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
          }),
        ]),
    ],
  },
  documents: {
    model: 'reads/m',
    path: '/v1/ocr',
    body: { document: { type: 'document_url', document_url: 'https://a.test/b.pdf' } },
    responses: respondEach({ pages: [{ index: 0, markdown: text }], usage_info: { pages_processed: 0 } }),
  },
  'web search': {
    model: 'tavily/search',
    path: '/v1/search',
    body: { query: 'words' },
    responses: respondEach({ results: [{ title: 'A', url: 'https://a.test', content: text }], usage: { credits: 0 } }),
  },
  'web search by cost': {
    model: 'exa/search',
    path: '/v1/search',
    body: { query: 'words' },
    responses: respondEach({ results: [{ title: 'A', url: 'https://a.test', text }], costDollars: { total: 0 } }),
  },
}

for (const [name, { model, path, body, responses }] of Object.entries(rows)) {
  const sendRequest = async (respond: () => Response, limited: boolean) => {
    const provider = model.split('/', 1)[0] ?? ''
    const world = await openWorld({ fetch: fakeUpstream(respond), catalog, connections: [provider] })
    const { key } = await world.api.keys.create({ name: 'alice', ...(limited && { limits: { usd: { day: 0.01 } } }) })
    const send = () => {
      const authorization = `Bearer ${key}`
      if (!('form' in body)) return world.post(path, { model, ...body }, { headers: { authorization } })
      const { contentType, bytes: sent } = body.form as ReturnType<typeof serializeForm>
      const marked = Buffer.from(sent).toString('latin1').replace('MODEL', model)
      return world.gateway.fetch(
        new Request(`http://gateway${path}`, {
          method: 'POST',
          headers: { authorization, 'content-type': contentType },
          body: Buffer.from(marked, 'latin1'),
        }),
      )
    }
    return { world, send }
  }

  test(`estimates usage: ${name}`, async () => {
    for (const [index, respond] of responses.entries()) {
      const { world, send } = await sendRequest(respond, false)
      const response = await send()
      const responseBody = await response.text()
      assert.is(response.status, 200, responseBody)
      const [usage] = world.recorded.usages
      assert.is(usage?.costSource, 'estimated', `response ${index}: ${JSON.stringify(usage)}`)
      assert.ok((usage?.costUsd ?? 0) > 0.0005, `response ${index}: ${JSON.stringify(usage)}`)
    }
  })

  test(`estimated usage stops a key with a budget of one cent per day: ${name}`, async () => {
    for (const respond of responses) {
      const { world, send } = await sendRequest(respond, true)
      const statuses: number[] = []
      while (statuses.length < 20 && (statuses.at(-1) ?? 200) === 200) {
        const response = await send()
        await response.text()
        statuses.push(response.status)
      }
      assert.is(statuses.at(-1), 402, `${statuses}`)
      assert.ok(world.recorded.errors.length === 0)
    }
  })
}
