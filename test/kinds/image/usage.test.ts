import type { UsageLimits } from '../../../src/types/limits.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { dataUrl, png } from './images.ts'
import { imageVendors, openImages, type VendorName } from './vendors.ts'

const test = suite('image usage, costs, and limits')

/** Returns a response's usage with OpenAI's field names, and the request's stored usage. */
async function getSpending(name: VendorName, body: object = {}, respond?: () => Response) {
  const { send, api } = await openImages({ usage: true, ...(respond && { respond }) })
  const response = await send(imageVendors[name].model, { ...body })
  const { usage } = (await response.json()) as { usage?: object }
  const { requests } = await api.usage.requests({})
  const [{ units, tokens, costUsd, costSource } = assert.unreachable() as never] = requests
  return { usage, units, tokens: [tokens.input, tokens.output], costUsd, costSource }
}

test('charges image tokens if the model has a token price', async () => {
  const openai = await getSpending('openai')
  assert.equal(openai.tokens, [10, 1_000])
  assert.equal([openai.units, openai.costUsd, openai.costSource], [{ image: 1 }, 0.03005, 'counted'])
  const google = await getSpending('google')
  assert.equal([google.tokens, google.units, google.costUsd], [[8, 1_120], { image: 1 }, 0.067204])
  assert.equal(google.usage, {
    input_tokens: 8,
    output_tokens: 1_120,
    output_tokens_details: { text_tokens: 0, image_tokens: 1_120 },
    total_tokens: 1_128,
  })
})

test("charges Google's text and image tokens separately", async () => {
  const details = (text: number) => [
    { modality: 'TEXT', tokenCount: text },
    { modality: 'IMAGE', tokenCount: 1_120 },
  ]
  const usageMetadata = {
    promptTokenCount: 1_130,
    candidatesTokenCount: 1_220,
    promptTokensDetails: details(10),
    candidatesTokensDetails: details(100),
  }
  const content = { parts: [{ inlineData: { mimeType: 'image/png', data: png } }] }
  const { usage, costUsd } = await getSpending('google', {}, () => json({ candidates: [{ content }], usageMetadata }))
  assert.equal(usage, {
    input_tokens: 1_130,
    input_tokens_details: { text_tokens: 10, image_tokens: 1_120 },
    output_tokens: 1_220,
    output_tokens_details: { text_tokens: 100, image_tokens: 1_120 },
    total_tokens: 2_350,
  })
  assert.is(costUsd, 0.068065)
})

test('totals the tokens and images of several calls for one request', async () => {
  const { tokens, units, usage } = await getSpending('google', { n: 3 })
  assert.equal([tokens, units], [[24, 3_360], { image: 3 }])
  assert.is((usage as { total_tokens: number }).total_tokens, 3_384)
})

test('charges the cost that a vendor reports', async () => {
  assert.equal([(await getSpending('openrouter')).costUsd, (await getSpending('xai')).costUsd], [0.04, 0.02])
  const { units, costSource } = await getSpending('openrouter', { n: 2 })
  assert.equal([units, costSource], [{ image: 2 }, 'reported'])
})

test('a model without a price has an unknown cost, not 0', async () => {
  const { costUsd, units } = await getSpending('together')
  assert.equal([costUsd, units], [undefined, { image: 1 }])
})

test('the operator can set an image price on a connection', async () => {
  const { api, send } = await openImages({ usage: true })
  const { connections } = await api.connections.list()
  const connection = connections.find(({ provider }) => provider === 'together')
  const model = imageVendors.together.model.replace('together/', '')
  await api.connections.update(connection?.id ?? '', { prices: { [model]: { image: 0.05 } } })
  const response = await send(imageVendors.together.model, { n: 2 })
  assert.is(response.headers.get('x-signalbox-cost'), '0.1')
})

async function openLimited(limits: UsageLimits) {
  const world = await openImages()
  const { key } = await world.api.keys.create({ name: 'alice', limits })
  const headers = { authorization: `Bearer ${key}` }
  return {
    ...world,
    send: (model: string, body = {}, path: 'edits' | 'generations' = 'generations') =>
      world.send(model, body, { path, headers }),
  }
}

test('reserves the maximum number of image tokens, and releases the unused part afterward', async () => {
  const { send, upstream } = await openLimited({ usd: { total: 0.5 } })
  for (let times = 0; times < 3; times++) assert.is((await send('openai/gpt-image-2')).status, 200)
  assert.is((await send('openai/gpt-image-2', { n: 2 })).status, 402)
  assert.is((await send('openai/gpt-image-2', { size: '3840x2160' })).status, 402)
  assert.is(upstream.calls.length, 3)
})

test('reserves the price of every requested image', async () => {
  const { send, upstream } = await openLimited({ usd: { total: 0.1 } })
  assert.is((await send('bfl/flux-kontext-pro', { n: 3 })).status, 402)
  assert.is(upstream.calls.length, 0)
  await send('bfl/flux-kontext-pro', { n: 2 })
  assert.is(upstream.calls.length > 0, true)
})

test('a dollar limit counts input images and rejects a model without a price', async () => {
  const { send, upstream } = await openLimited({ usd: { total: 0.4 } })
  assert.is((await send('openai/gpt-image-2', { image: Array(4).fill(dataUrl(png)) }, 'edits')).status, 402)
  assert.is((await send(imageVendors.together.model)).status, 402)
  assert.is(upstream.calls.length, 0)
})

test('rejects a key without access to images', async () => {
  const { api, send, upstream } = await openImages()
  const { key } = await api.keys.create({ name: 'bob', kinds: ['llm'] })
  const response = await send('openai/gpt-image-2', {}, { headers: { authorization: `Bearer ${key}` } })
  assert.equal([response.status, upstream.calls.length], [403, 0])
})

test('image models are listed with their kind, and only they accept image requests', async () => {
  const { send, gateway, upstream } = await openImages()
  const listed = await gateway.fetch(new Request('http://gateway/v1/models/image'))
  const { data } = (await listed.json()) as { data: Array<{ id: string }> }
  const ids = data.map(({ id }) => id)
  for (const value of ['openai/gpt-image-2', 'bfl/flux-2-pro', imageVendors.xai.model])
    assert.ok(ids.includes(value), `${value} among ${ids}`)
  const chat = await send('openai/gpt-5.1', {})
  assert.is(chat.status, 400)
  assert.match(await chat.text(), /POST \/v1\/chat\/completions|chat/)
  const image = await gateway.fetch(
    new Request('http://gateway/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ model: 'openai/gpt-image-2', messages: [{ role: 'user', content: 'Hi' }] }),
    }),
  )
  assert.is(image.status, 400)
  assert.match(await image.text(), /POST \/v1\/images\/generations/)
  assert.is(upstream.calls.length, 0)
})
