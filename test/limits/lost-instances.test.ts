import { assert, suite } from '../support/suite.ts'
import { assertReserved, getReason, getTotals, key, open } from './support/ledgers.ts'

const test = suite('instances that crash, or appear to')

test("a crashed instance's reservations become unsettled, free their concurrency slots, and can be settled either way", async () => {
  for (const as of ['spent', 'unspent'] as const) {
    const { world, a, one, other } = open()
    const scope = key({ tokens: { day: 100 }, parallel: 1 })
    assertReserved(await one.reserve([scope], { fixed: { tokens: 80, parallel: 1 } }))
    await world.pass(30_000) // the instance is still running
    assert.equal(
      getTotals(await other.getStates(scope)).map(({ reserved }) => reserved),
      [80, 1],
    )
    world.crash(a)
    await world.pass(60_000)
    assert.equal(getTotals(await other.getStates(scope)), [
      { used: 0, reserved: 0, unsettled: 80, remaining: 20 },
      { used: 0, reserved: 0, unsettled: 0, remaining: 1 },
    ])
    assert.equal(getReason(await other.reserve([scope], { fixed: { tokens: 21 } })), [
      'too-large',
      'key',
      'tokens',
      'day',
    ])
    await other.settleLost(scope, as)
    const used = as === 'spent' ? 80 : 0
    assert.equal(getTotals(await other.getStates(scope))[0], { used, reserved: 0, unsettled: 0, remaining: 100 - used })
    assert.equal(getTotals(await world.start().ledger.getStates(scope))[0]?.used, used)
  }
})

test('a settlement by an instance that was declared lost counts only once', async () => {
  for (const as of [undefined, 'spent', 'unspent'] as const) {
    const { world, a, one, other } = open()
    const scope = key({ tokens: { day: 100 } })
    const reservation = assertReserved(await one.reserve([scope], { fixed: { tokens: 80 } }))
    a.isFrozen = true
    await world.pass(60_000)
    if (as) await other.settleLost(scope, as)
    a.isFrozen = false
    reservation.settle({ tokens: 50 })
    await one.waitForWrites()
    assert.equal(getTotals(await other.getStates(scope)), [{ used: 50, reserved: 0, unsettled: 0, remaining: 50 }])
  }
})

test("a running instance isn't declared lost, even if its request takes a long time", async () => {
  const { world, one, other } = open()
  const scope = key({ parallel: 1 })
  assertReserved(await one.reserve([scope], { fixed: { parallel: 1 } }))
  for (let minutes = 0; minutes < 10; minutes++) {
    await world.pass(60_000)
    assert.equal(getReason(await other.reserve([scope], { fixed: { parallel: 1 } })), ['held', 'key', 'parallel', null])
  }
})

test("an account's record stays small over thousands of short-lived instances", async () => {
  const { world } = open()
  const scope = key({ requests: { total: 10_000 } })
  for (let count = 0; count < 2_000; count++) {
    const { ledger } = world.start()
    assertReserved(await ledger.reserve([scope], { fixed: { requests: 1 } })).settle({ requests: 1 })
    await ledger.close()
    await world.pass(3_000)
  }
  const [record] = await world.storage.list('limits/')
  assert.ok(Number(record?.value.length) < 3_000, `${record?.value.length} characters`)
  assert.is((await world.start().ledger.getStates(scope))[0]?.used, 2_000)
})

test('reservations of many crashed instances are combined, and stay unsettled until an administrator settles them', async () => {
  const { world } = open()
  const scope = key({ tokens: { total: 10_000, month: 10_000, minute: 10_000 } })
  for (let count = 0; count < 200; count++) {
    const instance = world.start()
    assertReserved(await instance.ledger.reserve([scope], { fixed: { tokens: 1 } }))
    world.crash(instance)
    await world.pass(600_000)
  }
  const { ledger } = world.start()
  assert.equal(
    getTotals(await ledger.getStates(scope)).map(({ unsettled }) => unsettled),
    [0, 200, 200],
  )
  const [record] = await world.storage.list('limits/')
  assert.ok(Number(record?.value.length) < 4_000, `${record?.value.length} characters`)
  await ledger.settleLost(scope, 'spent')
  assert.equal(
    getTotals(await ledger.getStates(scope)).map(({ used, unsettled }) => [used, unsettled]),
    [
      [0, 0],
      [200, 0],
      [200, 0],
    ],
  )
})
