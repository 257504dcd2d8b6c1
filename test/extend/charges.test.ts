import type { Feature, FeatureRouteRequest } from '../../src/feature.ts'
import { assert, suite } from '../support/suite.ts'
import { openExtended } from './world.ts'

const test = suite('charges of feature routes')

/** Sells searches at a dollar each. `search` runs once its charge is accepted. */
const createShop = (search: (request: FeatureRouteRequest) => Promise<void> | void = () => {}): Feature => ({
  name: 'shop',
  areas: [
    {
      path: '/shop',
      routes: [
        {
          method: 'POST',
          path: '/shop/search',
          operation: 'execute_tool',
          async run(request) {
            await request.charge(1)
            await search(request)
            return Response.json({ found: [] })
          },
        },
        { method: 'GET', path: '/shop', run: () => Response.json({ open: true }) },
      ],
    },
  ],
})

test('a charge is in the response headers, the hook record, the usage record, the totals, and the metrics', async () => {
  const { gateway, send, records, scrape } = await openExtended([createShop((request) => request.charge(0.25))])
  const response = await send('POST', '/shop/search', {})
  assert.is(response.headers.get('x-signalbox-cost'), '1.25')
  const [record] = records
  assert.equal([record?.costUsd, record?.chargedUsd], [1.25, 1.25])
  const { requests } = await gateway.api.usage.requests()
  assert.equal([requests[0]?.endpoint, requests[0]?.costUsd, requests[0]?.chargedUsd], ['/shop/search', 1.25, 1.25])
  const { totals } = await gateway.api.usage.summary()
  assert.is(totals.costUsd, 1.25)
  assert.match(await scrape(), /signalbox_usage_cost_usd_total\{gen_ai_operation_name="execute_tool"\} 1\.25\n/)
})

test('a request that charges nothing has no cost fields', async () => {
  const { gateway, send, records } = await openExtended([createShop()])
  const response = await send('GET', '/shop')
  assert.is(response.headers.get('x-signalbox-cost'), null)
  assert.is(records[0]?.chargedUsd, undefined)
  assert.is((await gateway.api.usage.requests()).requests[0]?.chargedUsd, undefined)
})

test('a charge counts toward dollar limits, and one that no longer fits is rejected before the route continues', async () => {
  let searches = 0
  const { gateway, send, addKey } = await openExtended([createShop(() => void searches++)])
  const key = await addKey('buyer', { usd: { day: 2.5 } })
  for (let sent = 0; sent < 2; sent++) assert.is((await send('POST', '/shop/search', {}, key)).status, 200)
  const rejected = await send('POST', '/shop/search', {}, key)
  assert.is(rejected.status, 402)
  assert.match(await rejected.text(), /could use up to \$1, more than the \$0\.5 left/)
  assert.is(searches, 2)
  assert.is((await send('GET', '/shop', undefined, key)).status, 200)
  const { keys } = await gateway.api.keys.list()
  const { id = '' } = keys.find(({ name }) => name === 'buyer') ?? {}
  const { limits } = await gateway.api.keys.limits.get(id)
  assert.equal(
    limits.map(({ unit, used }) => [unit, used]),
    [['usd', 2]],
  )
})

test("concurrent charges can't exceed a limit together", async () => {
  let searches = 0
  const { send, addKey } = await openExtended([createShop(() => void searches++)])
  const key = await addKey('buyer', { usd: { total: 3 } })
  const responses = await Promise.all(Array.from({ length: 8 }, () => send('POST', '/shop/search', {}, key)))
  assert.equal(responses.map(({ status }) => status).filter((status) => status === 200).length, 3)
  assert.is(searches, 3)
})

test('a charge counts even if the route fails afterwards', async () => {
  const { gateway, send, addKey } = await openExtended([
    createShop((request) => request.reject('The search engine is down.', { status: 502 })),
  ])
  const key = await addKey('buyer', { usd: { day: 2 } })
  assert.is((await send('POST', '/shop/search', {}, key)).status, 502)
  assert.is((await gateway.api.usage.requests()).requests[0]?.costUsd, 1)
  assert.is((await send('POST', '/shop/search', {}, key)).status, 502)
  assert.is((await send('POST', '/shop/search', {}, key)).status, 402)
})

for (const usd of [-1, Number.NaN, Number.POSITIVE_INFINITY])
  test(`charging ${usd} fails the request with a 500 and adds nothing to the cost`, async () => {
    const { send, errors, records } = await openExtended([createShop((request) => request.charge(usd))])
    assert.is((await send('POST', '/shop/search', {})).status, 500)
    assert.match(String(errors[0]), /A charge must be a non-negative amount in USD, got/)
    assert.is(records[0]?.chargedUsd, 1)
  })

test('a route can charge while it streams, but not after the last byte', async () => {
  const { promise: lateCharge, resolve } = Promise.withResolvers<unknown>()
  const feature: Feature = {
    name: 'shop',
    areas: [
      {
        path: '/shop',
        routes: [
          {
            method: 'POST',
            path: '/shop/stream',
            run(request) {
              request.onEnd(() => resolve(request.charge(1).catch(String)))
              const chunks = ['a', 'b', 'c']
              return new Response(
                new ReadableStream<Uint8Array>({
                  async pull(controller) {
                    const chunk = chunks.shift()
                    if (chunk === undefined) return controller.close()
                    await request.charge(0.5)
                    controller.enqueue(new TextEncoder().encode(chunk))
                  },
                }),
              )
            },
          },
        ],
      },
    ],
  }
  const { gateway, send, addKey } = await openExtended([feature])
  const key = await addKey('buyer', { usd: { day: 5 } })
  assert.is(await (await send('POST', '/shop/stream', {}, key)).text(), 'abc')
  assert.match(String(await lateCharge), /TypeError: The request has already ended/)
  assert.is((await gateway.api.usage.requests()).requests[0]?.costUsd, 1.5)
  const { keys } = await gateway.api.keys.list()
  const { limits } = await gateway.api.keys.limits.get(keys.find(({ name }) => name === 'buyer')?.id ?? '')
  assert.is(limits[0]?.used, 1.5)
})
