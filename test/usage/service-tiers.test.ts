import { checkModels } from '../../src/features/catalog/validate-model.ts'
import { decodeRequests, encodeRequests } from '../../src/features/usage/usage-codec.ts'
import { calculateCost } from '../../src/pricing/cost.ts'
import { readConverseUsage } from '../../src/protocols/formats/bedrock-converse/converse-fields.ts'
import { parseChatUsage } from '../../src/protocols/formats/openai-chat/chat-response.ts'
import { parseResponseUsage } from '../../src/protocols/formats/openai-responses/responses-response.ts'
import type { Price } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('prices of service tiers and long cache lifetimes')

const price: Price = {
  ...{ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  tiers: [{ above: 200_000, input: 4, output: 15 }],
  serviceTiers: {
    priority: { input: 5, output: 25, tiers: [{ above: 200_000, input: 20 }] },
    flex: { input: 1, output: 5 },
  },
}
const million = (serviceTier?: string) => ({
  ...{ inputTokens: 100_000, outputTokens: 100_000 },
  ...(serviceTier !== undefined && { serviceTier }),
})

const openPriced = (service: string | undefined) => {
  const fetch = fakeUpstream(() =>
    json({
      ...chatResponse(),
      ...(service && { service_tier: service }),
      usage: { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 },
    }),
  )
  const catalog = { one: { baseUrl: 'http://one.test/v1', models: [{ id: 'm', maxOutputTokens: 100, price }] } }
  return openWorld({ catalog, connections: ['one'], fetch })
}

test('210,000 input tokens are priced by their length tier, in each service tier', () => {
  const usage = { inputTokens: 210_000, outputTokens: 1_000 }
  assert.is(calculateCost(price, usage)?.toFixed(6), '0.855000')
  assert.is(calculateCost(price, { ...usage, serviceTier: 'priority' })?.toFixed(6), '4.225000')
  assert.is(calculateCost(price, { ...usage, serviceTier: 'flex' })?.toFixed(6), '0.215000') // flex has no prices for long inputs
})

test("a dollar limit reserves the highest price that a request's service tier and length can lead to", async () => {
  const { gateway, api } = await openPriced('priority')
  const { key } = await api.keys.create({ name: 'alice', limits: { usd: { day: 1 } } })
  const send = async (words: number, extra: object = {}) => {
    const body = {
      model: 'one/m',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'word '.repeat(words) }],
      ...extra,
    }
    const init = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: JSON.stringify(body) }
    const response = await gateway.fetch(new Request('http://gateway/v1/chat/completions', init))
    return { status: response.status, text: await response.text() }
  }
  const long = await send(250_000)
  assert.is(long.status, 402)
  const dear = await send(120_000, { service_tier: 'priority' })
  assert.is(dear.status, 402)
  assert.match(dear.text, /could use up to/) // its price is known, but the request doesn't fit
  assert.match((await send(10, { service_tier: 'turbo' })).text, /with this .*service_tier.* is unknown/)
  assert.match((await send(10, { service_tier: 'priority', speed: 'fast' })).text, /with this .*speed.* is unknown/)
  assert.is((await send(120_000)).status, 200)
})

test("a service tier that is a list or an object doesn't cause an internal error", async () => {
  const { chat, recorded } = await openPriced(undefined)
  for (const tier of [[{ toString: 1 }], [[], { valueOf: null }], { type: [{ toString: null }] }, ['priority']])
    assert.is((await chat({ service_tier: tier })).status, 200)
  assert.equal(recorded.errors, [])
})

test('a model with a price only for cached input is unpriced', async () => {
  const fetch = fakeUpstream(() => json({ ...chatResponse(), usage: { prompt_tokens: 9, completion_tokens: 9 } }))
  const models = [{ id: 'm', price: { cacheRead: 0.1, output: 1 } }]
  const { gateway, api, chat, recorded } = await openWorld({
    ...{ fetch, connections: ['one'], catalog: { one: { baseUrl: 'http://one.test/v1', models } } },
  })
  await (await chat({})).text()
  assert.is(recorded.usages[0]?.costUsd, undefined)
  const { key } = await api.keys.create({ name: 'alice', limits: { usd: { day: 5 } } })
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{"model":"one/m","messages":[]}' }
  assert.is((await gateway.fetch(new Request('http://gateway/v1/chat/completions', init))).status, 402)
  assert.equal(checkModels('one', { models }, ['llm']), [
    'one/m: price.output without an input price',
    'one/m: price.cacheRead without an input price',
  ])
})

test('a response is priced by the service tier that the provider reports', async () => {
  for (const [server, costUsd, costSource] of [
    [undefined, 4, 'counted'],
    ['default', 4, 'counted'],
    ['priority', 20, 'counted'],
    ['flex', 1, 'counted'],
    ['scale', 4, 'estimated'],
  ] as const) {
    const { chat, recorded } = await openPriced(server)
    await (await chat({})).text()
    const [usage] = recorded.usages
    assert.equal([server, usage?.costUsd, usage?.costSource], [server, costUsd, costSource])
  }
})

test('a service tier uses the standard price where it has none of its own', () => {
  assert.is(calculateCost({ ...price, serviceTiers: { flex: { input: 1 } } }, million('flex')), 1.1)
  assert.is(calculateCost(price, million('constructor')), calculateCost(price, million()))
})

test('tokens cached for an hour or longer have a separate price, by default twice the input price', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheWriteTokens: 1_000_000, cacheWriteLongTokens: 400_000 }
  const { tiers: _, ...short } = price
  assert.is(calculateCost(short, usage), 0.6 * 2.5 + 0.4 * 4)
  assert.is(calculateCost({ ...short, cacheWriteLong: 3 }, usage), 0.6 * 2.5 + 0.4 * 3)
})

test('tokens cached for an hour or longer are counted separately from others', () => {
  const details = {
    cached_tokens: 0,
    cache_write_tokens: 9,
    cache_write_tokens_details: { ttl_30m_tokens: 2, ttl_12h_tokens: 7 },
  }
  const chat = parseChatUsage({ prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: details })
  assert.equal([chat?.cacheWriteTokens, chat?.cacheWriteLongTokens], [9, 7])
  const response = parseResponseUsage({ input_tokens: 10, output_tokens: 1, input_tokens_details: details })
  assert.equal([response?.cacheWriteTokens, response?.cacheWriteLongTokens], [9, 7])
  const cacheDetails = [
    { ttl: '5m', inputTokens: 4 },
    { ttl: '1h', inputTokens: 5 },
  ]
  const converse = readConverseUsage({ inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 9, cacheDetails })
  assert.equal([converse?.cacheWriteTokens, converse?.cacheWriteLongTokens], [9, 5])
})

test('a stored request counts tokens with a long cache lifetime separately', () => {
  const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 9, reasoning: 0, cacheWriteLong: 7 }
  const target = { provider: 'one', model: 'm', connectionId: 'c' }
  const attempt = { ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 1, tokens, costUsd: 1 }
  const request = {
    ...{ id: '01JDW2V8M5Q4XK7N3R6T9Y0ABC', time: '2026-11-30T00:00:00.000Z', endpoint: '/v1/messages' },
    ...{ format: 'anthropic-messages' as const, streamed: false, durationMs: 1, status: 200, end: 'complete' as const },
    ...{ tokens, attempts: [attempt] },
  }
  const [decoded] = decodeRequests(encodeRequests([request], 0)) ?? []
  assert.equal(decoded?.tokens, tokens)
})
