import { calculateCost } from '../../src/pricing/cost.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Price } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('prices that depend on the input length')

const price: Price = {
  ...{ input: 2, output: 12, cacheRead: 0.2, audioInput: 3 },
  tiers: [
    { above: 500_000, input: 8 },
    { above: 200_000, input: 4, output: 18, cacheRead: 0.4 },
  ],
}
const createUsage = (inputTokens: number, extra: object = {}) => ({ inputTokens, outputTokens: 1_000_000, ...extra })
const cost = (...input: Parameters<typeof createUsage>) =>
  Number(calculateCost(price, createUsage(...input))?.toFixed(9))

test('an entire request is billed at the highest tier that its input exceeds', () => {
  assert.is(cost(200_000), 0.4 + 12)
  assert.is(cost(200_001), Number((0.800004 + 18).toFixed(9)))
  assert.is(cost(600_000), Number((4.8 + 12).toFixed(9))) // a tier doesn't inherit prices from lower tiers
})

test("cached tokens count toward the threshold, and prices missing from a tier don't change", () => {
  assert.is(cost(300_000, { cacheReadTokens: 200_000 }), 0.4 + 0.08 + 18)
  assert.is(cost(300_000, { inputAudioTokens: 100_000 }), Number((0.8 + 0.3 + 18).toFixed(9)))
  assert.is(
    cost(300_000, { cacheWriteTokens: 100_000, cacheWriteLongTokens: 100_000 }),
    Number((0.8 + 0.8 + 18).toFixed(9)),
  )
})

const usage = (input: number) => ({ prompt_tokens: input, completion_tokens: 100, total_tokens: input + 100 })
const messages = (size: number) => [{ role: 'user', content: 'word '.repeat(size) }]

test('the cost of counted tokens uses the tier that the provider reports', async () => {
  const catalog = { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', price }] } }
  let input = 200_000
  const fetch = fakeUpstream(() => json({ ...chatResponse(), usage: usage(input) }))
  const { chat, recorded } = await openWorld({ catalog, connections: ['one'], fetch })
  for (input of [200_000, 250_000]) await (await chat({ model: 'one/m' })).text()
  assert.equal(
    recorded.usages.map(({ costUsd, costSource }) => [Number(costUsd?.toFixed(9)), costSource]),
    [
      [0.4012, 'counted'],
      [1.0018, 'counted'],
    ],
  )
})

test('a dollar limit reserves the higher price if the input may exceed the threshold', async () => {
  const catalog = {
    one: {
      baseUrl: 'http://one.test/v1',
      models: [
        { id: 'm', maxOutputTokens: 100, price: { ...price, tiers: [{ above: 20_000, input: 100, output: 100 }] } },
      ],
    },
  }
  const upstream = fakeUpstream(() => json({ ...chatResponse(), usage: usage(10) }))
  const { gateway, api } = await openWorld({ catalog, connections: ['one'], fetch: upstream })
  const { key } = await api.keys.create({ name: 'alice', limits: { usd: { day: 0.5 } } })
  const send = (size: number) =>
    gateway.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'one/m', messages: messages(size), max_tokens: 10 }),
      }),
    )
  assert.is((await send(10_000)).status, 200)
  assert.is((await send(30_000)).status, 402)
  assert.is(upstream.calls.length, 1)
})

test('connections and custom models can have tiers, and a tier needs its threshold', async () => {
  const fetch = fakeUpstream(() => json({ ...chatResponse(), usage: usage(1_000) }))
  const catalog = { openai: { baseUrl: 'http://openai.test/v1', models: [] } }
  const { api, chat, recorded } = await openWorld({ catalog, fetch, connections: [] })
  const tiers = [{ above: 900, input: 200 }]
  await api.connections.create({
    ...{ provider: 'openai', apiKey: 'k' },
    prices: { 'gpt-5-mini': { input: 100, output: 0, tiers } },
  })
  await (await chat({ model: 'openai/gpt-5-mini' })).text()
  assert.is(recorded.usages[0]?.costUsd, 0.2)
  const model = { providerAlias: 'openai', id: 'own', prices: { input: 1, output: 2, tiers } }
  assert.equal((await api.customModels.create(model)).prices?.tiers, tiers)
  const unthreshed = { ...model, id: 'other', prices: { input: 1, tiers: [{ input: 2 }] } }
  const error = await api.customModels.create(unthreshed as unknown as typeof model).catch((error) => error)
  assert.match(error.message, /above/)
})

test('the catalog has the thresholds of Gemini Pro and of GPT-5.4 and later', () => {
  const getPrice = (provider: string, id: string) =>
    defaultCatalog[provider]?.models?.find((model) => model.id === id)?.price
  assert.equal(getPrice('google', 'gemini-2.5-pro')?.tiers, [
    { above: 200_000, input: 2.5, output: 15, cacheRead: 0.25 },
  ])
  assert.equal(getPrice('openai', 'gpt-5.4')?.tiers, [{ above: 272_000, input: 5, output: 22.5, cacheRead: 0.5 }])
  for (const provider of Object.values(defaultCatalog))
    for (const { id, contextWindow = 0, price } of provider.models ?? [])
      if (/gpt-(?:5\.[4-9]|[6-9])|gemini-(?:2\.5|3\.1)-pro/.test(id) && contextWindow > 500_000 && price)
        assert.ok(price.tiers, id)
})
