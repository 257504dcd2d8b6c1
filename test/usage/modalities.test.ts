import { decodeTotals, getTotalsRows, Totals } from '../../src/features/usage/totals.ts'
import { decodeRequests, encodeRequests } from '../../src/features/usage/usage-codec.ts'
import { serializeForm } from '../../src/lib/multipart.ts'
import { calculateCost } from '../../src/pricing/cost.ts'
import type { Price } from '../../src/types.ts'
import { wav } from '../kinds/audio-files.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('tokens by modality')

const prices: Price = { input: 1, output: 2, audioInput: 10, audioOutput: 20, imageInput: 100, imageOutput: 200 }
const catalog = {
  one: {
    baseUrl: 'http://one.test/v1',
    models: [
      { id: 'm', price: prices },
      { id: 'pictures', type: 'image' as const, price: prices },
      { id: 'hears', type: 'stt' as const, price: prices },
    ],
  },
  google: {
    baseUrl: 'http://google.test/v1',
    format: 'gemini' as const,
    models: [
      { id: 'g', price: prices },
      { id: 'speaks', type: 'tts' as const, price: prices },
    ],
  },
}

const inputs = { audio_tokens: 30, image_tokens: 20, text_tokens: 50 }
const gemini = (parts: object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
  usageMetadata: {
    promptTokenCount: 100,
    candidatesTokenCount: 40,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 50 },
      { modality: 'AUDIO', tokenCount: 30 },
      { modality: 'IMAGE', tokenCount: 20 },
    ],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
  },
})
const audio = { inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AAAA' } }
const inputTokens = { inputImage: 20, inputAudio: 30 }

/** A provider's responses, with the image and audio tokens to be stored. */
const responses: Record<string, { path: string; body: object; response: object; kept: object }> = {
  'chat completions': {
    path: '/v1/chat/completions',
    body: { model: 'one/m', messages: [{ role: 'user', content: 'Hi' }] },
    response: {
      ...chatResponse(),
      usage: {
        prompt_tokens: 100,
        completion_tokens: 40,
        prompt_tokens_details: { ...inputs, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: 40 },
      },
    },
    kept: { ...inputTokens, outputAudio: 40 },
  },
  images: {
    path: '/v1/images/generations',
    body: { model: 'one/pictures', prompt: 'rain' },
    response: {
      data: [{ b64_json: 'AAAA' }],
      usage: {
        input_tokens: 100,
        output_tokens: 40,
        input_tokens_details: { image_tokens: 20, text_tokens: 80 },
        output_tokens_details: { image_tokens: 40, text_tokens: 0 },
      },
    },
    kept: { inputImage: 20, outputImage: 40 },
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    body: { model: 'one/hears' },
    response: {
      text: 'Hi',
      usage: {
        type: 'tokens',
        input_tokens: 100,
        output_tokens: 40,
        input_token_details: { audio_tokens: 90, text_tokens: 10 },
      },
    },
    kept: { inputAudio: 90 },
  },
  "Google's generateContent": {
    path: '/v1beta/models/google/g:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    response: gemini([audio]),
    kept: { ...inputTokens, outputAudio: 40 },
  },
  "Google's speech": {
    path: '/v1/audio/speech',
    body: { model: 'google/speaks', input: 'Hi', voice: 'alloy', response_format: 'pcm' },
    response: gemini([audio]),
    kept: { outputAudio: 40 },
  },
}

for (const [label, { path, body, response: reply, kept }] of Object.entries(responses))
  test(`image and audio tokens are stored, totaled, and charged separately: ${label}`, async () => {
    const { gateway, api } = await openWorld({
      catalog,
      connections: Object.keys(catalog),
      usage: true,
      fetch: fakeUpstream(() => json(reply)),
    })
    const form = serializeForm([
      ...Object.entries(body).map(([name, value]) => ({ name, value: String(value) })),
      { name: 'file', fileName: 'a.wav', type: 'audio/wav', bytes: wav(1) },
    ])
    const isForm = path.endsWith('transcriptions')
    const response = await gateway.fetch(
      new Request(`http://gateway${path}`, {
        method: 'POST',
        headers: { 'content-type': isForm ? form.contentType : 'application/json' },
        body: isForm ? (form.bytes as BodyInit) : JSON.stringify(body),
      }),
    )
    assert.is(response.status, 200, await response.text())
    const tokens = { input: 100, output: 40, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...kept }
    const { requests } = await api.usage.requests({})
    assert.equal([requests[0]?.tokens, requests[0]?.attempts[0]?.tokens], [tokens, tokens])
    const { inputImage = 0, inputAudio = 0, outputImage = 0, outputAudio = 0 } = tokens as Record<string, number>
    const input = (100 - inputImage - inputAudio) * 1 + inputImage * 100 + inputAudio * 10
    const output = (40 - outputImage - outputAudio) * 2 + outputImage * 200 + outputAudio * 20
    const { totals } = await api.usage.summary({})
    assert.equal(totals.tokens, tokens)
    assert.ok(Math.abs(totals.costUsd - (input + output) / 1e6) < 1e-9, `${totals.costUsd}`)
  })

test('image and audio tokens without a price cost as much as text tokens, up to the total tokens', () => {
  const usage = { inputTokens: 100, outputTokens: 50, inputAudioTokens: 60, outputImageTokens: 20 }
  const costs = (price: Price, extra: object = {}) =>
    Math.round((calculateCost(price, { ...usage, ...extra }) ?? 0) * 1e6)
  assert.is(costs({ input: 1, output: 2 }), 200)
  assert.is(costs({ input: 1, output: 2, audioInput: 10 }), 40 + 600 + 100)
  assert.is(costs({ input: 1, output: 2, imageOutput: 5 }), 100 + 60 + 100)
  assert.is(costs({ input: 1, output: 2, cacheRead: 0, audioInput: 10 }, { cacheReadTokens: 30 }), 10 + 600 + 100)
  assert.is(costs({ input: 1, output: 2, cacheRead: 0, audioInput: 10 }, { cacheReadTokens: 90 }), 100 + 100)
  assert.is(costs(prices, { inputAudioTokens: 1_000, outputImageTokens: 1_000 }), 1_000 + 10_000)
})

const kept = {
  id: '0199fa00-0000-7000-8000-000000000000',
  time: '2025-10-19T00:00:00.000Z',
  endpoint: '/v1/chat/completions',
  format: 'openai-chat' as const,
  streamed: false,
  durationMs: 1,
  status: 200,
  end: 'complete' as const,
}
const target = { provider: 'one', model: 'm', connectionId: 'c' }
const getTokens = (extra: object) => ({ input: 9, output: 8, cacheRead: 0, cacheWrite: 0, reasoning: 0, ...extra })
const requestWith = (spent: object) => ({
  ...kept,
  target,
  attempts: [{ ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 1, ...spent }],
  tokens: getTokens({}),
})

test('requests and totals include modalities, and rows written by earlier versions are readable', () => {
  for (const spent of [
    { tokens: getTokens({}) },
    { tokens: getTokens({}), units: { image: 2 } },
    { tokens: getTokens({ inputAudio: 3 }) },
    { tokens: getTokens({ inputImage: 1, outputAudio: 4 }), units: { second: 2 } },
  ]) {
    const request = requestWith(spent)
    const [read] = decodeRequests(encodeRequests([request], 1)) ?? []
    assert.equal([read?.attempts[0]?.tokens, read?.attempts[0]?.units], [spent.tokens, spent.units])
    const totals = new Totals()
    for (const row of getTotalsRows(request)) totals.add(row)
    for (const row of getTotalsRows(request)) totals.add(row)
    const [sum] = decodeTotals(totals.encode(1e6))?.rows() ?? []
    const doubled = Object.fromEntries(Object.entries(spent.tokens).map(([name, count]) => [name, 2 * count]))
    assert.equal(sum?.sums.tokens, doubled)
  }
  const before =
    '{"at":1,"texts":["/v1/chat/completions","openai-chat","complete","one","m","c","answered"],"rows":[["0199fa00-0000-7000-8000-000000000000",1,2,0,0,0,0,0,3,0,0,0,200,1,-1,0,[[4,5,6,7,200,0,1,0,[5,1,1,9,8,0,0,0,{"image":2}]]],[],[]]]}'
  const [read] = decodeRequests(before) ?? []
  assert.equal([read?.tokens, read?.units], [getTokens({}), { image: 2 }])
  const sums =
    '{"through":{},"leftOut":0,"texts":["one","m","c"],"rows":[[0,0,0,1,2,3,0,1,0,0,0,9,8,0,0,0,5],[0,0,0,1,2,0,0,1,0,0,0,9,8,0,0,0,5,{"image":2}]]}'
  for (const row of decodeTotals(sums)?.rows() ?? []) assert.equal(row.sums.tokens, getTokens({}))
})
