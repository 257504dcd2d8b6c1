import { validateCatalog } from '../../src/features/catalog/validate-catalog.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Price } from '../../src/types.ts'
import { wav } from '../kinds/audio-files.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('endpoints with a single input or output modality')

const price: Price = { input: 5, output: 10, imageInput: 8, imageOutput: 32, audioInput: 6, audioOutput: 20 }
const catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    models: [
      { id: 'i', type: 'image' as const, price },
      { id: 't', type: 'tts' as const, price },
      { id: 's', type: 'stt' as const, price },
    ],
  },
  openai: { baseUrl: 'http://openai.test/v1', models: [{ id: 't', type: 'tts' as const, price }] },
  google: {
    baseUrl: 'http://google.test/v1',
    format: 'gemini' as const,
    models: [
      { id: 'i', type: 'image' as const, price },
      { id: 't', type: 'tts' as const, price },
    ],
  },
}

const usage = { input_tokens: 100_000, output_tokens: 1_000_000, total_tokens: 1_100_000 }
const data = [{ b64_json: 'AAAA' }]
const event = (body: { type: string; [member: string]: unknown }) =>
  `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
const createCompleted = (type: string, extra: object = {}) => sse([event({ type, b64_json: 'AAAA', usage, ...extra })])
const google = (mimeType: string) => ({
  candidates: [
    { content: { role: 'model', parts: [{ inlineData: { mimeType, data: 'AAAA' } }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 100_000, candidatesTokenCount: 1_000_000 },
})
const image = new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])], 'a.png', { type: 'image/png' })
const recording = new File([new Uint8Array(wav(1))], 'a.wav', { type: 'audio/wav' })
const speech = { input: 'Hi', voice: 'alloy', response_format: 'pcm' }
const own = { output_tokens_details: { text_tokens: 600_000, image_tokens: 400_000 } }

const cases: Array<[what: string, path: string, body: object | File, answer: () => Response, costUsd: number]> = [
  ['images', 'images/generations', { model: 'one/i', prompt: 'x' }, () => json({ data, usage }), 32.5],
  ['edits', 'images/edits', image, () => json({ data, usage }), 32.5],
  [
    'images with empty token details',
    'images/generations',
    { model: 'one/i', prompt: 'x' },
    () => json({ data, usage: { ...usage, output_tokens_details: {} } }),
    32.5,
  ],
  [
    'images with tokens by modality',
    'images/generations',
    { model: 'one/i', prompt: 'x' },
    () => json({ data, usage: { ...usage, ...own } }),
    0.5 + 6 + 12.8,
  ],
  [
    'streamed images',
    'images/generations',
    { model: 'one/i', prompt: 'x', stream: true },
    () => createCompleted('image_generation.completed'),
    32.5,
  ],
  ['Google’s images', 'images/generations', { model: 'google/i', prompt: 'x' }, () => json(google('image/png')), 32.5],
  [
    'streamed speech',
    'audio/speech',
    { model: 'openai/t', ...speech, stream_format: 'sse' },
    () => sse([event({ type: 'speech.audio.delta', audio: 'AAAA' }), event({ type: 'speech.audio.done', usage })]),
    20.5,
  ],
  [
    'Google’s speech',
    'audio/speech',
    { model: 'google/t', ...speech },
    () => json(google('audio/L16;rate=24000')),
    20.5,
  ],
  [
    'transcription',
    'audio/transcriptions',
    recording,
    () => json({ text: 'Hi', usage: { type: 'tokens', ...usage } }),
    10.6,
  ],
]

for (const [label, path, body, respond, costUsd] of cases)
  test(`all tokens count as the endpoint's modality unless the provider distinguishes them (litellm#31142): ${label}`, async () => {
    const { gateway, recorded } = await openWorld({
      catalog,
      connections: Object.keys(catalog),
      fetch: fakeUpstream(respond),
    })
    const isForm = body instanceof File
    const form = new FormData()
    if (isForm) {
      form.set('model', path === 'images/edits' ? 'one/i' : 'one/s')
      form.set(path === 'images/edits' ? 'image' : 'file', body)
      if (path === 'images/edits') form.set('prompt', 'x')
    }
    const reply = await gateway.fetch(
      new Request(`http://gateway/v1/${path}`, {
        method: 'POST',
        ...(!isForm && { headers: { 'content-type': 'application/json' } }),
        body: isForm ? form : JSON.stringify(body),
      }),
    )
    const text = await reply.text()
    assert.is(reply.status, 200, text)
    assert.equal(
      recorded.usages.map((record) => [Number(record.costUsd?.toFixed(6)), record.costSource]),
      [[costUsd, 'counted']],
    )
  })

const TEXT_DETAILS = { candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 1_000_000 }] }
const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

for (const [label, path, mimeType, extra, costUsd] of [
  ['an image model over Chat', 'i', 'image/png', {}, 32.5],
  ['an image model that returns text', 'i', 'image/png', TEXT_DETAILS, 10.5],
  [
    'an image model that reasons',
    'i',
    'image/png',
    { candidatesTokenCount: 500_000, thoughtsTokenCount: 500_000 },
    21.5,
  ],
  ['a speech model', 't', 'audio/L16;rate=24000', {}, 20.5],
] as const)
  test(`output that the provider doesn't distinguish counts as the model's modality: ${label}`, async () => {
    const response = google(mimeType)
    const full = { ...response, usageMetadata: { ...response.usageMetadata, ...extra } }
    const body = { contents, generationConfig: { responseModalities: [path === 'i' ? 'IMAGE' : 'AUDIO'] } }
    const requests = [
      ...(path === 'i' ? [['/v1/chat/completions', { model: 'google/i', messages }, false] as const] : []),
      [`/v1beta/models/google/${path}:generateContent`, body, false],
      [`/v1beta/models/google/${path}:streamGenerateContent?alt=sse`, body, true],
    ] as const
    for (const [at, requested, stream] of requests) {
      const { post, recorded } = await openWorld({
        catalog,
        connections: ['google'],
        fetch: fakeUpstream(() => (stream ? sse([`data: ${JSON.stringify(full)}\n\n`]) : json(full))),
      })
      await (await post(at, requested)).text()
      assert.equal(
        recorded.usages.map((record) => [Number(record.costUsd?.toFixed(6)), record.costSource]),
        [[costUsd, 'counted']],
        at,
      )
    }
  })

test('image models in the catalog have text and image prices, as the catalog check requires', () => {
  for (const { models = [] } of Object.values(defaultCatalog))
    for (const { id, type, price } of models)
      if (type === 'image' && price?.input !== undefined)
        assert.ok(price.output && price.imageInput && price.imageOutput, id)
  const models = [{ id: 'm', type: 'image' as const, price: { input: 5, output: 10 } }]
  const broken = { openai: { ...defaultCatalog.openai, models } }
  assert.ok(validateCatalog(broken).some((problem) => problem.includes('imageOutput')))
})
