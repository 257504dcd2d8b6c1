import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { StoredRequest } from '../../src/features/usage/request-record.ts'
import { createStoredRequest } from '../../src/features/usage/stored-request.ts'
import { createFixedEndpoint } from '../../src/protocols/formats/format.ts'
import { ANONYMOUS_CALLER } from '../../src/request/caller.ts'
import type { RequestLog } from '../../src/request/request-log.ts'
import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { catalog, openWorld, type World, type WorldOptions } from '../pipeline/support/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('request records')

const usage = { prompt_tokens: 1_000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 200 } }
const price = { input: 2, output: 10, cacheRead: 0.5 }
const priced = { ...catalog, one: { ...catalog.one, models: [{ id: 'm', price }] } }

/** The cost of `usage`: 800 uncached input tokens, 200 cached ones, and 500 output tokens. */
const COST = (800 * 2 + 200 * 0.5 + 500 * 10) / 1e6

const open = (options: WorldOptions = {}): Promise<World> =>
  openWorld({
    catalog: priced,
    usage: true,
    fetch: fakeUpstream(({ body, provider }) => {
      if (provider === 'three') return json({ error: { message: 'no' } }, 500)
      return JSON.parse(body).stream ? sse(chatEvents()) : json({ ...chatResponse(), usage })
    }),
    ...options,
  })

const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

const withoutTimes = ({ id, time, ...rest }: StoredRequest) => rest

test('a request is stored with its key, target, tokens, and cost, and is readable immediately', async () => {
  const world = await open()
  const group = await world.api.keys.create({ name: 'a', metadata: { team: 'ml' } })
  const reply = await world.chat({ user: 'u-1' }, withKey(group.key))
  const id = reply.headers.get('x-signalbox-request-id') ?? ''
  const { request } = await world.api.usage.request(id)
  const [connection] = (await world.api.connections.list()).connections
  const target = { provider: 'one', model: 'm', connectionId: connection?.id ?? '' }
  const spent = {
    tokens: { input: 1_000, output: 500, cacheRead: 200, cacheWrite: 0, reasoning: 0 },
    costUsd: COST,
    costSource: 'counted',
  } as const
  const price = { by: 'built-in', of: 'one/m' } as const
  assert.is(request.time, new Date(world.clock.now()).toISOString())
  assert.equal(withoutTimes(request), {
    keyId: group.id,
    metadata: { team: 'ml' },
    user: 'u-1',
    endpoint: '/v1/chat/completions',
    format: 'openai-chat',
    model: 'one/m',
    target,
    streamed: false,
    attempts: [{ ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 0, ...spent, price }],
    ...spent,
    firstByteMs: 0,
    durationMs: 0,
    status: 200,
    end: 'complete',
  })
  const { rows, totals } = await world.api.usage.summary({ by: 'key,target' })
  const none = { p50: 0, p95: 0, p99: 0 }
  const counts = { requests: 1, failed: 0, refused: 0, unpriced: 0 }
  const sums = { ...counts, tokens: spent.tokens, costUsd: COST, firstByteMs: none, durationMs: none }
  assert.equal(rows, [{ keyId: group.id, target, ...sums }])
  assert.equal(totals, sums)
})

test('a request record reads the same before it is written, afterward, and once folded', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const world = await open({ clock, storage })
  const reply = await world.chat({ model: 'three/m' })
  const id = reply.headers.get('x-signalbox-request-id') ?? ''
  const seen: unknown[] = []
  const look = async () =>
    seen.push(
      JSON.stringify([
        await world.api.usage.request(id),
        await world.api.usage.requests(),
        await world.api.usage.summary({ by: 'target,hour', from: '2026-01-01' }),
      ]),
    )
  await look()
  assert.is((await storage.list('usage/')).length, 0)
  await clock.advance(1_000)
  assert.equal((await storage.list('usage/')).length, 1)
  await look()
  await world.gateway.close()
  assert.ok((await storage.list('usage/requests/')).length === 1)
  assert.ok((await storage.list('usage/journal/')).length === 0)
  await look()
  assert.is(new Set(seen).size, 1, seen.join('\n'))
  const { request } = await world.api.usage.request(id)
  assert.is(request.end, 'failed')
  assert.is(request.attempts[0]?.outcome, 'server')
})

test("a request has no cost if an attempt's cost is unknown, both in storage and in hooks", async () => {
  const world = await open({
    fetch: fakeUpstream(({ provider }) =>
      provider === 'three' ? json({ error: { message: 'no' }, usage }, 500) : json({ ...chatResponse(), usage }),
    ),
    combos: { pair: ['three/m', 'one/m'] },
  })
  const id = (await world.chat({ model: 'pair' })).headers.get('x-signalbox-request-id') ?? ''
  const { request } = await world.api.usage.request(id)
  assert.equal(
    request.attempts.map(({ costUsd }) => costUsd),
    [undefined, COST],
  )
  assert.equal(
    [request.tokens.input, request.costUsd, world.recorded.requests.at(-1)?.costUsd],
    [2_000, undefined, undefined],
  )
  const { totals } = await world.api.usage.summary({ by: 'key' })
  assert.equal([totals.costUsd, totals.unpriced], [COST, 1])
})

test('a request rejected by a limit or a model list is recorded with its error code and reason', async () => {
  const world = await open()
  const { id: group } = await world.api.groups.create({ name: 'customer' })
  const assertRejected = async (input: object) => {
    const { key } = await world.api.keys.create({ name: 'limited', ...input })
    await world.chat({}, withKey(key))
    const id = (await world.chat({}, withKey(key))).headers.get('x-signalbox-request-id') ?? ''
    const { status, end, error, reason = '', groupId } = (await world.api.usage.request(id)).request
    return [status, end, error, groupId === group, reason.slice(0, 30)]
  }
  assert.equal(await assertRejected({ group, limits: { requests: { total: 1 } } }), [
    429,
    'refused',
    'RATE_LIMIT_EXCEEDED',
    true,
    'The API key "limited" can make',
  ])
  assert.equal(await assertRejected({ models: ['two/*'] }), [
    403,
    'refused',
    'MODEL_NOT_ALLOWED',
    false,
    'The API key "limited" is not a',
  ])
  const { rows } = await world.api.usage.summary({ by: 'group' })
  assert.equal(
    rows.map(({ groupId, requests, refused: count }) => [groupId, requests, count]),
    [
      [group, 2, 1],
      [undefined, 2, 2],
    ],
  )
})

test('the usage of the last of many attempts is stored even if not all attempts are listed', () => {
  const target = { provider: 'one', connectionId: 'c', model: 'm' }
  const failed = { ...target, startedAt: 0, durationMs: 1, outcome: 'server', status: 503 } as const
  const spent = { usage: { inputTokens: 7, outputTokens: 5 }, costUsd: 0.5, costSource: 'counted' } as const
  const steps = [
    ...Array.from({ length: 29 }, () => failed),
    { ...failed, outcome: 'answered', status: 200, ...spent } as const,
  ]
  const log = {
    ...{
      id: 'i',
      startedAt: 0,
      model: 'one/m',
      streamed: false,
      warnings: [],
      servedBy: 'provider',
      addedFields: {},
      steps,
    },
    route: createFixedEndpoint('openai-chat', '/chat/completions'),
    caller: ANONYMOUS_CALLER,
  } as Partial<RequestLog> as RequestLog
  const kept = createStoredRequest(log, { durationMs: 30, status: 200, end: 'complete' })
  assert.is(kept.attempts.length, 21)
  assert.equal([kept.tokens?.input, kept.costUsd], [7, 0.5])
})
