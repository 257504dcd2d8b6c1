import { GoogleGenAI } from '@google/genai'
import { fromBase64 } from '../../src/lib/bytes.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld, type WorldOptions } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { jpeg, png } from './image/images.ts'
import { getFields, imageVendors, openImages, type VendorName } from './image/vendors.ts'
import { samples, soundVendors, vendorCatalog } from './speech/vendors.ts'

const test = suite('images and speech with @google/genai')

/** Creates a client. It treats model names with a slash as full paths unless they start with `models/`. */
function getClient(gateway: { fetch: typeof globalThis.fetch }, apiKey = 'x') {
  const fetch = (input: string | URL | Request, init?: RequestInit) => gateway.fetch(new Request(input, init))
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: 'http://gateway', fetch } }).models
}

const getParts = ({ candidates }: { candidates?: Array<{ content?: { parts?: Part[] } }> }) =>
  candidates?.flatMap(({ content }) => content?.parts ?? []) ?? []
type Part = { inlineData?: { data?: string; mimeType?: string } }
const getData = (response: Parameters<typeof getParts>[0]) =>
  getParts(response).flatMap(({ inlineData }) => inlineData?.data ?? [])

const created: Partial<Record<VendorName, string>> = { openai: png, xai: jpeg, google: png, vertex: png }

for (const name of Object.keys(created) as VendorName[]) {
  const { model, makes, edits } = imageVendors[name]

  test(`${name} generates and edits an image, streamed or not`, async () => {
    const { gateway, upstream, recorded } = await openImages()
    const models = getClient(gateway)
    const config = { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } }
    const full = await models.generateContent({ model, contents: 'a walk', config })
    assert.equal(getData(full), [created[name]])
    assert.is(upstream.calls.filter(({ url }) => url.href === makes).length, 1)
    const image = [{ text: 'make it rain' }, { inlineData: { mimeType: 'image/png', data: png } }]
    assert.equal(getData(await models.generateContent({ model, contents: image, config })), [created[name]])
    assert.is(upstream.calls.at(-1)?.url.href, edits)
    if (name === 'google' || name === 'vertex') return // requests to Google are passed through
    const events = []
    for await (const event of await models.generateContentStream({ model, contents: 'a walk', config }))
      events.push(event)
    assert.equal(events.flatMap(getData), [created[name]])
    assert.is(events.at(-1)?.candidates?.[0]?.finishReason, 'STOP')
    assert.equal(recorded.errors, [])
  })
}

test('an image response includes the media type, usage, and model name', async () => {
  const { gateway } = await openImages()
  const { model } = imageVendors.openai
  const config = { responseModalities: ['TEXT', 'IMAGE'], candidateCount: 2 }
  const response = await getClient(gateway).generateContent({ model, contents: 'a walk', config })
  assert.equal(
    getParts(response).map(({ inlineData }) => inlineData?.mimeType),
    ['image/png', 'image/png'],
  )
  assert.equal(response.usageMetadata?.totalTokenCount, 1_010)
})

test("image options map to other vendors' fields, or are dropped with a warning", async () => {
  const { post, upstream } = await openImages()
  const body = {
    contents: [{ parts: [{ text: 'a walk' }] }],
    generation_config: {
      response_modalities: ['IMAGE'],
      image_config: { aspect_ratio: '16:9', image_size: '2K' },
      temperature: 1,
    },
  }
  const response = await post(`/v1beta/models/${imageVendors.xai.model}:generateContent`, body)
  assert.is(response.status, 200, await response.clone().text())
  const { aspect_ratio: ratio, resolution } = getFields(upstream.calls[0])
  assert.equal([ratio, resolution], ['16:9', '2k'])
  assert.match(response.headers.get('x-signalbox-warning') ?? '', /dropped:generationConfig\.temperature/)
  const strict = { headers: { 'x-signalbox-strict': 'true' } }
  assert.is((await post(`/v1beta/models/${imageVendors.xai.model}:generateContent`, body, strict)).status, 400)
})

test("a combo of Google's and other image models falls back to the next target", async () => {
  const models = [imageVendors.google.model, imageVendors.xai.model]
  const { gateway, recorded } = await openImages({
    combos: { pictures: { models, kind: 'image' } },
    respond: ({ url }) =>
      url.pathname.includes('generateContent')
        ? json({ error: { message: 'busy' } }, 503, { 'retry-after': '1' })
        : undefined,
  })
  const config = { responseModalities: ['IMAGE'] }
  const response = await getClient(gateway).generateContent({ model: 'pictures', contents: 'a walk', config })
  assert.equal(getData(response), [jpeg])
  assert.equal(recorded.errors, [])
})

test('a failure that may have incurred a cost ends the request', async () => {
  const models = [imageVendors.xai.model, imageVendors.openai.model]
  const { post, upstream } = await openImages({
    combos: { pictures: { models, kind: 'image' } },
    respond: ({ url }) => (url.host === 'api.x.ai' ? json({ error: { message: 'broken' } }, 500) : undefined),
  })
  const body = { contents: 'a walk', generationConfig: { responseModalities: ['IMAGE'] } }
  assert.is((await post('/v1beta/models/pictures:generateContent', body)).status, 500)
  assert.is(upstream.calls.length, 1)
})

test('malformed Gemini image requests return a 400 without a provider call', async () => {
  const { post, upstream, recorded } = await openImages()
  const values: unknown[] = [null, 0, 'x', [], [null], [{}], {}, { parts: 7 }, [{ parts: [{ inlineData: 7 }] }]]
  const config = { responseModalities: ['IMAGE'] }
  for (const contents of values.filter((value) => value !== 'x')) {
    const response = await post(`/v1beta/models/${imageVendors.openai.model}:generateContent`, {
      contents,
      generationConfig: config,
    })
    assert.is(response.status, 400, JSON.stringify(contents))
  }
  for (const extra of [
    { candidateCount: 99 },
    { candidateCount: 0.5 },
    { imageConfig: { aspectRatio: 'x' } },
    { imageConfig: 7 },
    { seed: 'x' },
  ])
    assert.is(
      (
        await post(`/v1beta/models/${imageVendors.openai.model}:generateContent`, {
          contents: 'a',
          generationConfig: { ...config, ...extra },
        })
      ).status,
      400,
      JSON.stringify(extra),
    )
  assert.equal([upstream.calls.length, recorded.errors], [0, []])
})

test('an image model rejects a request without image options and names the image endpoint', async () => {
  const { post, upstream } = await openImages()
  const response = await post(`/v1beta/models/${imageVendors.openai.model}:generateContent`, { contents: 'a walk' })
  assert.is(response.status, 400)
  assert.match(await response.text(), '/v1/images/generations')
  assert.is(upstream.calls.length, 0)
})

test("a chat-only key can't generate images, and a budget applies to images", async () => {
  const { gateway, api, upstream } = await openImages()
  const callOptions = {
    model: imageVendors.openai.model,
    contents: 'a walk',
    config: { responseModalities: ['IMAGE'] },
  }
  const chat = await api.keys.create({ name: 'bob', kinds: ['llm'] })
  const poor = await api.keys.create({ name: 'alice', limits: { usd: { total: 0.1 } } })
  for (const [{ key }, status] of [
    [chat, 403],
    [poor, 402],
  ] as const) {
    const reason = await getClient(gateway, key)
      .generateContent(callOptions)
      .catch((error: unknown) => error)
    assert.is(Object(reason).status, status, String(reason))
  }
  assert.is(upstream.calls.length, 0)
})

test('explaining an image request shows the targets that the request would use', async () => {
  const { api } = await openImages()
  const body = { contents: 'a walk', generationConfig: { responseModalities: ['IMAGE'] } }
  const path = '/v1beta/models/{model}:generateContent'
  const { targets } = await api.explain({ model: imageVendors.openai.model, path, body })
  assert.equal(
    targets.map(({ use, provider }) => `${use} ${provider}`),
    ['first openai'],
  )
})

const speaking = Object.fromEntries(
  Object.entries(vendorCatalog).map(([provider, definition]) => [
    provider,
    { ...definition, models: [{ id: 'voice-model', type: 'tts' as const }] },
  ]),
)

async function openSounds(options: WorldOptions = {}) {
  const upstream = fakeUpstream(
    (call) => soundVendors[call.provider]?.respond(call) ?? json({ error: { message: 'none' } }, 404),
  )
  const world = await openWorld({
    fetch: upstream,
    catalog: speaking,
    connections: Object.keys(soundVendors),
    ...options,
  })
  return { ...world, upstream }
}

const speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } }

for (const name of ['openai', 'elevenlabs', 'deepgram', 'mistral', 'openrouter', 'google'])
  test(`${name} generates speech, streamed or not`, async () => {
    const { gateway, recorded, upstream } = await openSounds()
    const callOptions = {
      model: `${name}/voice-model`,
      contents: 'Hello',
      config: { responseModalities: ['AUDIO'], speechConfig },
    }
    const full = await getClient(gateway).generateContent(callOptions)
    assert.equal(
      getParts(full).flatMap(({ inlineData }) => [...fromBase64(inlineData?.data ?? '')]),
      [...samples.pcm],
    )
    assert.match(getParts(full)[0]?.inlineData?.mimeType ?? '', /^audio\/L16;.*rate=24000/)
    const pieces: number[] = []
    let end: unknown
    for await (const event of await getClient(gateway).generateContentStream(callOptions)) {
      pieces.push(...getParts(event).flatMap(({ inlineData }) => [...fromBase64(inlineData?.data ?? '')]))
      end = event.candidates?.[0]?.finishReason ?? end
    }
    assert.equal([pieces, end], [[...samples.pcm], 'STOP'])
    if (name === 'openai') assert.is(JSON.parse(upstream.calls[0]?.body ?? '').voice, 'alloy')
    assert.equal(recorded.errors, [])
  })

test('speech that is cut off mid-stream ends with an error, never with STOP', async () => {
  const cut = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(samples.pcm.slice(0, 100)),
    pull: (controller) => controller.error(new Error('cut')),
  })
  const upstream = fakeUpstream(() => new Response(cut, { headers: { 'content-type': 'audio/pcm' } }))
  const { post } = await openSounds({ fetch: upstream, connections: ['deepgram'] })
  const body = { contents: 'Hello', generationConfig: { responseModalities: ['AUDIO'] } }
  const response = await post('/v1beta/models/deepgram/voice-model:streamGenerateContent?alt=sse', body)
  const text = await response.text()
  assert.match(text, /"error"/)
  assert.not.match(text, /STOP/)
})
