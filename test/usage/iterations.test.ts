import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { Price } from '../../src/types.ts'
import { CLAUDE, settings, TOKEN } from '../pipeline/clouds/vertex-world.ts'
import { fakeUpstream } from '../pipeline/support/upstream.ts'
import { openWorld } from '../pipeline/support/world.ts'
import { assert, suite } from '../support/suite.ts'
import { clients, providers } from './support/reporting.ts'

const test = suite('Anthropic usage with several model iterations')

const PRICE: Price = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }
const DEARER: Price = { input: 50, output: 250, cacheRead: 5, cacheWrite: 62.5 }
const catalog = {
  claude: {
    baseUrl: 'http://claude.test/v1',
    format: 'anthropic-messages',
    models: [
      { id: 'claude-small-4-5', price: PRICE },
      { id: 'claude-large-4-8', price: DEARER },
    ],
  },
} as const
const MODEL = 'claude/claude-small-4-5'

const run = (type: string, [input, read, write, output]: readonly number[], model?: string) => ({
  type,
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: write,
  output_tokens: output,
  ...(model && { model }),
})

const own = run('message', [23_000, 0, 0, 1_000])
const compaction = run('compaction', [180_000, 4_000, 2_000, 3_500])
const costOfOwn = (23_000 * 5 + 1_000 * 25) / 1e6
const costOfCompaction = (180_000 * 5 + 4_000 * 0.5 + 2_000 * 6.25 + 3_500 * 25) / 1e6
const advice = [800, 100, 0, 1_200] as const
const costOfAdvice = (times: number) => (times * (800 * 5 + 100 * 0.5 + 1_200 * 25)) / 1e6

const rows: ReadonlyArray<
  readonly [
    what: string,
    iterations: unknown,
    expected: readonly [input: number, output: number, usd: number, source: string],
  ]
> = [
  ['a compaction', [compaction, own], [209_000, 4_500, costOfCompaction + costOfOwn, 'counted']],
  ['a single message iteration', [own], [23_000, 1_000, costOfOwn, 'counted']],
  ['an empty list', [], [23_000, 1_000, costOfOwn, 'counted']],
  ['null', null, [23_000, 1_000, costOfOwn, 'counted']],
  ['zeros', [run('message', [0, 0, 0, 0])], [23_000, 1_000, costOfOwn, 'counted']],
  ['an object instead of a list', { a: 1 }, [23_000, 1_000, costOfOwn, 'counted']],
  [
    'iterations that total less than the usage',
    [run('message', [3_000, 0, 0, 200])],
    [23_000, 1_000, costOfOwn, 'counted'],
  ],
  [
    'an advisor on another model',
    [own, run('advisor_message', advice, 'claude-large-4-8')],
    [23_900, 2_200, costOfOwn + costOfAdvice(10), 'counted'],
  ],
  [
    'an advisor under its dated model name',
    [own, run('advisor_message', advice, 'claude-large-4-8-20260101')],
    [23_900, 2_200, costOfOwn + costOfAdvice(10), 'counted'],
  ],
  [
    'an advisor on the main model, under its dated name',
    [own, run('advisor_message', advice, 'claude-small-4-5-20250929')],
    [23_900, 2_200, costOfOwn + costOfAdvice(1), 'counted'],
  ],
  [
    'an iteration on a model without a price',
    [own, run('advisor_message', advice, 'claude-unheard-of')],
    [23_900, 2_200, costOfOwn + costOfAdvice(1), 'estimated'],
  ],
]

const usageWith = (iterations: unknown) => ({ input_tokens: 23_000, output_tokens: 1_000, iterations })
const started = { input_tokens: 23_000, output_tokens: 1 }

async function spend(respond: () => Response, [path, body]: readonly [path: string, body: object]) {
  const world = await openWorld({ fetch: fakeUpstream(respond), catalog, connections: ['claude'] })
  const responseBody = await (await world.post(path, body)).text()
  const [record] = world.recorded.requests
  return { output: responseBody, record, world }
}

for (const [client, send] of Object.entries(clients))
  for (const [label, iterations, [input, output, usd, source]] of rows)
    test(`iterations are charged together: ${label} (${client} client)`, async () => {
      for (const stream of [false, true]) {
        const usage = usageWith(iterations)
        const { record } = await spend(
          () => (stream ? providers.claude.stream([started, usage], 'Hello') : providers.claude.whole(usage, 'Hello')),
          send(MODEL, stream),
        )
        assert.equal(
          [record?.usage?.inputTokens, record?.usage?.outputTokens, record?.costSource],
          [input, output, source],
        )
        assert.ok(Math.abs((record?.costUsd ?? 0) - usd) < 1e-9, `${record?.costUsd}, not ${usd}`)
      }
    })

test("iterations don't change the usage that the client gets", async () => {
  const { output: modelOutput } = await spend(
    () => providers.claude.whole(usageWith([compaction, own]), 'Hello'),
    clients.messages?.(MODEL, false) ?? ['', {}],
  )
  assert.equal(JSON.parse(modelOutput).usage, usageWith([compaction, own]))
  const translated = await spend(
    () => providers.claude.whole(usageWith([compaction, own]), 'Hello'),
    clients.chat?.(MODEL, false) ?? ['', {}],
  )
  assert.is(JSON.parse(translated.output).usage.total_tokens, 24_000)
})

test('iterations count toward a dollar limit', async () => {
  const [path, body] = clients.messages?.(MODEL, false) ?? ['', {}]
  const world = await openWorld({
    fetch: fakeUpstream(() => providers.claude.whole(usageWith([compaction, own]), 'Hello')),
    catalog,
    connections: ['claude'],
  })
  const { key } = await world.api.keys.create({ name: 'alice', limits: { usd: { day: 5 } } })
  let answered = 0
  for (let time = 0; time < 10; time++)
    if ((await world.post(path, body, { headers: { authorization: `Bearer ${key}` } })).status === 200) answered++
  assert.is(answered, 5) // each costs $1.14, and the last one starts below the limit
})

test("iterations use the connection's prices, if any", async () => {
  const world = await openWorld({
    fetch: fakeUpstream(() =>
      providers.claude.whole(usageWith([own, run('advisor_message', advice, 'claude-mine')]), 'Hello'),
    ),
    catalog,
    connections: [{ provider: 'claude', prices: { 'claude-mine': DEARER } }],
  })
  const [path, body] = clients.messages?.(MODEL, false) ?? ['', {}]
  await (await world.post(path, body)).text()
  const [record] = world.recorded.requests
  assert.is(record?.costSource, 'counted')
  assert.ok(Math.abs((record?.costUsd ?? 0) - costOfOwn - costOfAdvice(10)) < 1e-9, `${record?.costUsd}`)
})

test('iterations are charged on Vertex, even though its model names differ', async () => {
  const prices = { 'claude-sonnet-4-5@20250929': PRICE, 'claude-opus-4-6@20260101': DEARER }
  const same = run('message', advice, 'claude-sonnet-4-5-20250929')
  const usage = usageWith([compaction, own, same, run('advisor_message', advice, 'claude-opus-4-6')])
  const usd = costOfCompaction + costOfOwn + costOfAdvice(1) + costOfAdvice(10)
  for (const [client, send] of Object.entries(clients))
    for (const stream of [false, true]) {
      const world = await openWorld({
        fetch: fakeUpstream(() =>
          stream ? providers.claude.stream([started, usage], 'Hello') : providers.claude.whole(usage, 'Hello'),
        ),
        catalog: defaultCatalog,
        connections: [{ provider: 'vertex', apiKey: TOKEN, providerSpecificData: settings, prices }],
      })
      await (await world.post(...send(CLAUDE, stream))).text()
      const [record] = world.recorded.requests
      assert.is(record?.costSource, 'counted', client)
      assert.ok(Math.abs((record?.costUsd ?? 0) - usd) < 1e-9, `${client}: ${record?.costUsd}, not ${usd}`)
    }
})
