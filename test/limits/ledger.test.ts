import type { LimitedScope } from '../../src/features/limits/ledger/ledger.ts'
import type { LimitState } from '../../src/types/limits.ts'
import { assert, suite } from '../support/suite.ts'
import { assertReserved, gateway, getCode, getReason, getTotals, group, key, open } from './support/ledgers.ts'

const test = suite('limit counters')

test('limit states include the used, reserved, and remaining amounts, and when the window ends', async () => {
  const { one, other } = open()
  const scope = key({ requests: { day: 10 }, tokens: { hour: 1_000 }, usd: { month: 0.07 }, parallel: 2 })
  const first = assertReserved(
    await one.reserve([scope], { fixed: { requests: 1, parallel: 1, tokens: 300, usd: 0.01 } }),
  )
  first.settle({ requests: 1, tokens: 120, usd: 0.003 })
  await one.waitForWrites()
  assertReserved(await other.reserve([scope], { fixed: { requests: 1, parallel: 1, tokens: 300, usd: 0.01 } }))
  const rest = { scope: 'key', id: 'one', unsettled: 0 }
  const states: LimitState[] = [
    {
      ...rest,
      unit: 'requests',
      window: 'day',
      limit: 10,
      used: 1,
      reserved: 1,
      remaining: 8,
      resetsAt: '2026-03-19T00:00:00.000Z',
    },
    {
      ...rest,
      unit: 'tokens',
      window: 'hour',
      limit: 1_000,
      used: 120,
      reserved: 300,
      remaining: 580,
      resetsAt: '2026-03-19T00:00:00.000Z',
    },
    {
      ...rest,
      unit: 'usd',
      window: 'month',
      limit: 0.07,
      used: 0.003,
      reserved: 0.01,
      remaining: 0.057,
      resetsAt: '2026-04-01T00:00:00.000Z',
    },
    { ...rest, unit: 'parallel', window: null, limit: 2, used: 0, reserved: 1, remaining: 1, resetsAt: null },
  ] as LimitState[]
  assert.equal(await one.getStates(scope), states)
  assert.equal(await other.getStates(scope), states)
  assert.equal((await one.getStates(gateway({ requests: { total: 5 } })))[0], {
    ...{ scope: 'gateway', unit: 'requests', window: 'total', limit: 5 },
    ...{ used: 0, reserved: 0, unsettled: 0, remaining: 5, resetsAt: null },
  })
})

test('a rejection distinguishes exhausted limits, oversized requests, and capacity reserved by in-flight requests', async () => {
  const { one } = open()
  const scope = key({ tokens: { day: 100 } })
  const send = (tokens: number) => one.reserve([scope], { fixed: { tokens } })
  assert.equal(getReason(await send(101)), ['too-large', 'key', 'tokens', 'day'])
  const first = assertReserved(await send(60))
  assert.equal(getReason(await send(41)), ['held', 'key', 'tokens', 'day'])
  first.settle({ tokens: 60 })
  assert.equal(getReason(await send(41)), ['too-large', 'key', 'tokens', 'day'])
  assertReserved(await send(40)).settle({ tokens: 45 })
  const rejection = await send(1)
  assert.equal(getReason(rejection), ['used-up', 'key', 'tokens', 'day'])
  assert.equal(getTotals(rejection.kind === 'rejected' ? [rejection.limit] : []), [
    { used: 105, reserved: 0, unsettled: 0, remaining: 0 },
  ])
  assert.is((await send(0)).kind, 'reserved')
})

test('with several limits, a rejection reports requests first, then concurrent requests, then the longest window', async () => {
  const { one } = open()
  const limits = { requests: { minute: 1, day: 1 }, tokens: { total: 1 }, parallel: 1 }
  assertReserved(await one.reserve([key(limits)], { fixed: { requests: 1, parallel: 1 } })).settle({ requests: 1 }, [
    'requests',
  ])
  const send = (fixed: object, scopes: LimitedScope[]) => one.reserve(scopes, { fixed }).then(getReason)
  assert.equal(await send({ requests: 1, parallel: 1, tokens: 2 }, [key(limits)]), [
    'used-up',
    'key',
    'requests',
    'day',
  ])
  assert.equal(await send({ parallel: 1, tokens: 2 }, [key(limits)]), ['held', 'key', 'parallel', null])
  assert.equal(await send({ tokens: 2 }, [key(limits), group({ tokens: { day: 1 } })]), [
    'too-large',
    'key',
    'tokens',
    'total',
  ])
})

test('a reservation gets as much output as the tightest limit allows, but at least the requested minimum', async () => {
  const { one } = open()
  const scopes = [key({ tokens: { day: 5_000 } }), gateway({ usd: { total: 0.03 } })]
  const output = { tokens: 4_096, minTokens: 1_024, usdPerToken: 0.00001 }
  const first = assertReserved(await one.reserve(scopes, { fixed: { tokens: 100, usd: 0.001 }, output }))
  assert.is(first.outputTokens, 2_900)
  assert.equal(
    getTotals(first.limits).map(({ remaining }) => remaining),
    [0, 2_000],
  )
  await one.waitForWrites()
  assert.equal(getTotals((await Promise.all(scopes.map((scope) => one.getStates(scope)))).flat()), [
    { used: 0, reserved: 3_000, unsettled: 0, remaining: 2_000 },
    { used: 0, reserved: 0.03, unsettled: 0, remaining: 0 },
  ])
  first.settle({ tokens: 300, usd: 0.02 })
  assert.equal(getReason(await one.reserve(scopes, { fixed: {}, output })), ['too-large', 'gateway', 'usd', 'total'])
  assert.is(
    assertReserved(await one.reserve(scopes, { fixed: {}, output: { ...output, minTokens: 1_000 } })).outputTokens,
    1_000,
  )
})

test('a request is reserved in all scopes or none', async () => {
  const { one } = open()
  const scopes = [key({ tokens: { day: 100 } }), group({ tokens: { day: 50 } }), gateway({ tokens: { day: 200 } })]
  assert.equal(getReason(await one.reserve(scopes, { fixed: { tokens: 60 } })), ['too-large', 'group', 'tokens', 'day'])
  await one.waitForWrites()
  for (const scope of scopes) assert.is((await one.getStates(scope))[0]?.reserved, 0)
})

test("if two concurrent requests don't both fit, exactly one passes, across instances", async () => {
  for (let round = 0; round < 50; round++) {
    const { world, one, other } = open()
    const shared = [group({ tokens: { day: 100 } }), gateway({ tokens: { day: 100 } })]
    const promise = Promise.all([
      one.reserve([key({ tokens: { day: 80 } }, 'a'), ...shared], { fixed: { tokens: 60 } }),
      other.reserve([key({ tokens: { day: 80 } }, 'b'), ...shared], { fixed: { tokens: 60 } }),
      other.reserve([key({ tokens: { day: 50 } }, 'c'), ...shared], { fixed: { tokens: 60 } }), // can't fit, so it doesn't block the others
    ])
    await world.pass(5_000)
    const kinds = (await promise).map(({ kind }) => kind)
    assert.equal([kinds.filter((kind) => kind === 'reserved').length, kinds[2]], [1, 'rejected'])
  }
})

test('tokens and USD can be settled before requests and concurrency, each only once', async () => {
  const { one } = open()
  const scope = key({ requests: { day: 10 }, tokens: { day: 100 }, parallel: 1 })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { requests: 1, parallel: 1, tokens: 50 } }))
  reservation.settle({ tokens: 20 }, ['tokens', 'usd'])
  reservation.settle({ tokens: 20 }, ['tokens', 'usd'])
  assert.equal(
    getTotals(await one.getStates(scope)).map(({ used, reserved }) => [used, reserved]),
    [
      [0, 1],
      [20, 0],
      [0, 1],
    ],
  )
  reservation.settle({ requests: 1, tokens: 99 })
  reservation.settle({ requests: 1 })
  assert.equal(
    getTotals(await one.getStates(scope)).map(({ used, reserved }) => [used, reserved]),
    [
      [1, 0],
      [20, 0],
      [0, 0],
    ],
  )
})

test('a reservation is extended if the limits allow, and otherwise left unchanged', async () => {
  const { one } = open()
  const scope = key({ tokens: { day: 100 } })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 50 } }))
  assert.is(await reservation.extend({ tokens: 40 }), undefined)
  assert.equal(getReason(await reservation.extend({ tokens: 20 })), ['held', 'key', 'tokens', 'day'])
  assert.is((await one.getStates(scope))[0]?.reserved, 90)
  reservation.settle({ tokens: 70 })
  assert.equal(getTotals(await one.getStates(scope)), [{ used: 70, reserved: 0, unsettled: 0, remaining: 30 }])
})

test('a settlement counts in the windows of its reservation, but not in later ones', async () => {
  const { world, one } = open()
  const scope = key({ tokens: { hour: 100, day: 100, total: 100 } })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 80 } }))
  await world.pass(11 * 60_000) // past midnight
  assert.equal(
    getTotals(await one.getStates(scope)).map(({ reserved }) => reserved),
    [0, 0, 80],
  )
  reservation.settle({ tokens: 30 })
  assert.equal(
    getTotals(await one.getStates(scope)).map(({ used }) => used),
    [0, 0, 30],
  )
})

test("a clock that goes back doesn't reopen a window", async () => {
  const { world, a, one } = open()
  const scope = key({ requests: { day: 1 } })
  const send = () => one.reserve([scope], { fixed: { requests: 1 } })
  assertReserved(await send()).settle({ requests: 1 })
  a.offset = -2 * 86_400_000
  assert.equal(getReason(await send()), ['used-up', 'key', 'requests', 'day'])
  a.offset = 0
  assert.equal(getReason(await send()), ['used-up', 'key', 'requests', 'day'])
  await world.pass(11 * 60_000)
  assert.is((await send()).kind, 'reserved')
})

test('usage under old limits counts toward changed limits', async () => {
  const { one } = open()
  assertReserved(await one.reserve([key({ requests: { day: 9 } })], { fixed: { requests: 1, tokens: 70 } })).settle({
    requests: 1,
    tokens: 70,
  })
  const changed = key({ tokens: { month: 100 } })
  assert.equal(getReason(await one.reserve([changed], { fixed: { tokens: 31 } })), [
    'too-large',
    'key',
    'tokens',
    'month',
  ])
  assert.is((await one.reserve([changed], { fixed: { tokens: 30 } })).kind, 'reserved')
})

test('a reset clears the counters, but in-flight requests stay reserved', async () => {
  const { one, other } = open()
  const scope = key({ tokens: { total: 100 } })
  assertReserved(await one.reserve([scope], { fixed: { tokens: 50 } })).settle({ tokens: 50 })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 30 } }))
  await other.reset(scope)
  assert.equal(getTotals(await one.getStates(scope)), [{ used: 0, reserved: 30, unsettled: 0, remaining: 70 }])
  reservation.settle({ tokens: 10 })
  assert.equal(getTotals(await one.getStates(scope)), [{ used: 10, reserved: 0, unsettled: 0, remaining: 90 }])
})

test('a reset repairs the effects of a clock that was ahead', async () => {
  const { a, one, other } = open()
  const scope = key({ requests: { day: 1 } })
  a.offset = 365 * 86_400_000
  assertReserved(await one.reserve([scope], { fixed: { requests: 1 } })).settle({ requests: 1 })
  assert.is((await other.getStates(scope))[0]?.resetsAt, '2027-03-19T00:00:00.000Z')
  await other.reset(scope)
  assert.is((await other.getStates(scope))[0]?.resetsAt, '2026-03-19T00:00:00.000Z')
  assert.is((await other.reserve([scope], { fixed: { requests: 1 } })).kind, 'reserved')
})

test('a deleted account stays deleted, even if in-flight requests settle afterward', async () => {
  const { world, one, other } = open()
  const scope = key({ tokens: { total: 100 } })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 50 } }))
  const otherInstance = assertReserved(await other.reserve([scope], { fixed: { tokens: 50 } }))
  await one.forget(scope)
  reservation.settle({ tokens: 50 })
  otherInstance.settle({ tokens: 50 })
  await Promise.all([one.waitForWrites(), other.waitForWrites()])
  assert.equal(await world.storage.list('limits/'), [])
})

test('a damaged account causes an error until it is reset, instead of counting as empty', async () => {
  for (const text of ['', '{}', '{"v":1', '{"v":2,"minute":0,"used":[],"gone":[],"entries":[]}', '[]']) {
    const { world, one } = open()
    const scope = key({ requests: { day: 1 } })
    await world.storage.set('limits/key/one', text)
    assert.is(await getCode(one.reserve([scope], { fixed: { requests: 1 } })), '500 RECORD_DAMAGED')
    assert.is(await getCode(one.getStates(scope)), '500 RECORD_DAMAGED')
    assert.is(await getCode(one.settleLost(scope, 'spent')), '500 RECORD_DAMAGED')
    assert.is((await world.storage.get('limits/key/one'))?.value, text)
    await one.reset(scope)
    assert.is((await one.reserve([scope], { fixed: { requests: 1 } })).kind, 'reserved')
  }
})

test('while the storage is unavailable, reservations are rejected with a 503 and no settlement is lost', async () => {
  const { world, one } = open()
  const scope = key({ tokens: { day: 100 } })
  const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 50 } }))
  world.faults = 1
  assert.is(await getCode(one.reserve([scope], { fixed: { tokens: 1 } })), '503 STORAGE_UNAVAILABLE')
  assert.is(await getCode(one.getStates(scope)), '503 STORAGE_UNAVAILABLE')
  reservation.settle({ tokens: 20 })
  await world.pass(10_000)
  assert.is(world.errors.length, 1)
  await world.recover()
  assert.equal(getTotals(await one.getStates(scope)), [{ used: 20, reserved: 0, unsettled: 0, remaining: 80 }])
})

test('close writes pending changes', async () => {
  const { one, other } = open()
  const scope = key({ tokens: { day: 100 } })
  const held = await Promise.all(Array.from({ length: 9 }, () => one.reserve([scope], { fixed: { tokens: 10 } })))
  for (const item of held) assertReserved(item).settle({ tokens: 3 })
  await one.close()
  assert.equal(getTotals(await other.getStates(scope)), [{ used: 27, reserved: 0, unsettled: 0, remaining: 73 }])
})

test('a reservation needs one write if nobody else has written, and none if nothing is limited', async () => {
  const { world, one } = open()
  const calls: string[] = []
  const { get, set } = world.storage
  world.storage.get = (...args) => {
    calls.push('get')
    return get(...args)
  }
  world.storage.set = (...args) => {
    calls.push('set')
    return set(...args)
  }
  const scope = key({ tokens: { day: 1_000 } })
  await one.reserve([scope], { fixed: { tokens: 1 } })
  assert.equal(calls.splice(0), ['get', 'set'])
  await one.reserve([scope], { fixed: { tokens: 1 } })
  assert.equal(calls.splice(0), ['set'])
  await Promise.all(Array.from({ length: 20 }, () => one.reserve([scope], { fixed: { tokens: 1 } })))
  assert.equal(calls.splice(0), ['set'])
  await one.reserve([key({}), gateway({ tokens: {} })], { fixed: { tokens: 1 } })
  assert.equal(calls, [])
})

test('dollar amounts are summed to the nano-dollar and rounded up', async () => {
  const { one } = open()
  const scope = key({ usd: { day: 0.3 } })
  for (let count = 0; count < 3; count++)
    assertReserved(await one.reserve([scope], { fixed: { usd: 0.1 } })).settle({ usd: 0.1 })
  assert.equal(getTotals(await one.getStates(scope)), [{ used: 0.3, reserved: 0, unsettled: 0, remaining: 0 }])
  const small = key({ usd: { day: 1 } }, 'small')
  for (let count = 0; count < 10; count++)
    assertReserved(await one.reserve([small], { fixed: { usd: 1e-10 } })).settle({ usd: 1e-10 })
  assert.is((await one.getStates(small))[0]?.used, 1e-8)
})
