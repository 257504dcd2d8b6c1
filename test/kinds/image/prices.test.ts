import type { Catalog, Price } from '../../../src/types.ts'
import { fakeUpstream, json } from '../../pipeline/support/upstream.ts'
import { openWorld } from '../../pipeline/support/world.ts'
import { assert, suite } from '../../support/suite.ts'
import { png } from './images.ts'

const test = suite('image prices by size and quality')

const catalog: Catalog = { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', type: 'image' }] } }
const images = { 'high:1024x1024': 0.2, '1024x1024:low': 0.01, '1536x1024': 0.06, '4K': 0.5, medium: 0.05 }

async function open(price: Price, content: object = {}) {
  const upstream = fakeUpstream(({ body }) => {
    const { n = 1, stream } = JSON.parse(body)
    if (stream)
      return new Response(
        `data: ${JSON.stringify({ type: 'image_generation.completed', b64_json: png, ...content })}\n\n`,
        { headers: { 'content-type': 'text/event-stream' } },
      )
    return json({ data: Array.from({ length: n }, () => ({ b64_json: png })), ...content })
  })
  const world = await openWorld({ fetch: upstream, catalog, connections: [{ provider: 'one', prices: { m: price } }] })
  const { key } = await world.api.keys.create({ name: 'a', limits: { usd: { total: 0.3 } } })
  const send = (body: object, headers = {}) =>
    world.post('/v1/images/generations', { model: 'one/m', prompt: 'rain', ...body }, { headers })
  async function cost(body: object) {
    await (await send(body)).text()
    return world.recorded.usages.at(-1)?.costUsd
  }
  const sendLimited = (body: object) => send(body, { authorization: `Bearer ${key}` })
  return { ...world, world, cost, limited: sendLimited, upstream }
}

for (const [body, output, usd] of [
  [{ quality: 'high', size: '1024x1024' }, {}, 0.2],
  [{ quality: 'low', size: '1024x1024' }, {}, 0.01],
  [{ quality: 'high', size: '1536x1024', n: 2 }, {}, 0.12],
  [{ size: '4K' }, {}, 0.5],
  [{ size: '3840x2160' }, {}, 0.5],
  [{ quality: 'medium' }, {}, 0.05],
  [{ size: 'auto', quality: 'auto' }, { size: '1024x1024', quality: 'high' }, 0.2],
  [{ stream: true }, { size: '1024x1024', quality: 'low' }, 0.01],
  [{ stream: true, quality: 'high' }, { size: '1024x1024', quality: 'high' }, 0.2],
  [{ size: '512x512' }, {}, 0.5],
] as const)
  test(`one image costs $${usd / (('n' in body && body.n) || 1)} for ${JSON.stringify(body)} and the response ${JSON.stringify(output)}`, async () => {
    const { cost } = await open({ images }, output)
    assert.is(await cost(body), usd)
  })

test('images without a matching price cost the `image` price', async () => {
  assert.is(await (await open({ images, image: 0.03 })).cost({ size: '512x512' }), 0.03)
  assert.is(await (await open({ images: {}, image: 0.03 })).cost({}), 0.03)
  assert.is(await (await open({ images: {} })).cost({}), undefined)
})

test('an image request reserves the highest price that could apply', async () => {
  for (const [body, status] of [
    [{ quality: 'low', size: '1024x1024', n: 1 }, 402], // the 4K price might apply to this size
    [{}, 402],
  ] as const) {
    const { limited, upstream } = await open({ images })
    assert.is((await limited(body)).status, status)
    assert.is(upstream.calls.length, 0)
  }
  const named = { 'high:1024x1024': 0.2, 'low:1024x1024': 0.01, 'high:1536x1024': 0.4 }
  for (const [body, status] of [
    [{ quality: 'low', size: '1024x1024', n: 10 }, 200],
    [{ quality: 'high', size: '1024x1024' }, 200],
    [{ quality: 'high', size: '1024x1024', n: 2 }, 402],
    [{ quality: 'low' }, 402], // neither the size nor its price is known
    [{ quality: 'high' }, 402],
    [{ size: 'auto', quality: 'auto' }, 402],
    [{ quality: 'unheard', size: '1024x1024' }, 402],
  ] as const) {
    const { limited } = await open({ images: named })
    assert.is((await limited(body)).status, status, JSON.stringify(body))
  }
})

test('no image costs more than its reservation, whatever the vendor reports', async () => {
  const tables = [
    images,
    { medium: 0.05, '1536x1024': 0.2 },
    { medium: 0.05, '4096x4096': 0.2 },
    { 'low:1024x1024': 0.01, 'high:1536x1024': 0.2 },
    { '1K': 0.01, '512x512': 0.2 },
  ]
  const requested = [{}, { size: '1024x1024' }, { quality: 'low' }, { size: '4K' }, { quality: 'low', size: '512x512' }]
  const responses = [{}, { quality: 'low' }, { size: '1024x1024' }, { size: '1536x1024', quality: 'medium' }]
  for (const table of tables)
    for (const body of requested)
      for (const output of responses) {
        const { cost, world, upstream } = await open({ images: table }, output)
        const usd = Number(await cost(body))
        const { key } = await world.api.keys.create({ name: 'b', limits: { usd: { total: usd - 0.001 } } })
        const extra = { model: 'one/m', prompt: 'rain', ...body }
        const { status } = await world.post('/v1/images/generations', extra, {
          headers: { authorization: `Bearer ${key}` },
        })
        assert.equal([status, upstream.calls.length], [402, 1], JSON.stringify({ table, body, output }))
      }
})

test('the error for an invalid price of images or minutes names the field', async () => {
  const { api } = await open({ images })
  const [{ id } = assert.unreachable() as never] = (await api.connections.list()).connections
  for (const [price, field] of [
    [{ images: { '1K': -1 } }, 'images.1K'],
    [{ images: { '1K': '1' } }, 'images.1K'],
    [{ images: 5 }, 'images'],
    [{ minute: -1 }, 'minute'],
  ] as const) {
    const error = await api.connections.update(id, { prices: { m: price as never } }).then(
      () => 'taken',
      (error: Error) => error.message,
    )
    assert.ok(error.includes(`"prices.m.${field}"`), error)
  }
})
