import type { LimitedScope } from '../../src/features/limits/ledger/ledger.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { assertReserved, getReason, getTotals, key } from './support/ledgers.ts'
import { World } from './support/world.ts'

const test = suite('usage on the other side of cloud sync')

/** Opens one side of a sync, with its own storage. */
function openSide() {
  const world = new World(createRandom())
  const { ledger } = world.start()
  return {
    world,
    ledger,
    async spend(scope: LimitedScope, tokens: number) {
      assertReserved(await ledger.reserve([scope], { fixed: { requests: 1, tokens } })).settle({ requests: 1, tokens })
      await ledger.waitForWrites()
    },
    async output(mirror = 'm') {
      const { accounts } = await ledger.listSpending(mirror, { limit: 10 })
      return accounts
    },
    async used(scope: LimitedScope) {
      return (await ledger.getStates(scope)).map(({ used }) => used)
    },
  }
}

type Side = ReturnType<typeof openSide>

const openSides = () => ({ home: openSide(), cloud: openSide(), scope: key({ tokens: { hour: 100, total: 1_000 } }) })

async function sendUsage(from: Side, to: Side, mirror = 'm') {
  for (const account of await from.output(mirror)) await to.ledger.applySpending(mirror, account)
}

async function exchange(item: Side, other: Side) {
  await sendUsage(item, other)
  await sendUsage(other, item)
}

test("each side's usage counts once on both sides, even if it is reported repeatedly", async () => {
  const { home, cloud, scope } = openSides()
  await home.spend(scope, 30)
  await cloud.spend(scope, 45)
  for (let times = 0; times < 10; times++) {
    await exchange(home, cloud)
    assert.equal([await home.used(scope), await cloud.used(scope)], [Array(2).fill(75), Array(2).fill(75)])
  }
  const requestOptions = { fixed: { tokens: 26 } }
  assert.equal(getReason(await home.ledger.reserve([scope], requestOptions)), ['too-large', 'key', 'tokens', 'hour'])
  assert.equal(getReason(await cloud.ledger.reserve([scope], requestOptions)), ['too-large', 'key', 'tokens', 'hour'])
  await cloud.spend(scope, 25)
  await exchange(home, cloud)
  assert.equal(getTotals(await home.ledger.getStates(scope))[0], { used: 100, reserved: 0, unsettled: 0, remaining: 0 })
  assert.equal(getReason(await home.ledger.reserve([scope], { fixed: { tokens: 1 } })), [
    'used-up',
    'key',
    'tokens',
    'hour',
  ])
})

test('a repeated or outdated message has no effect, even in another process', async () => {
  const { home, cloud, scope } = openSides()
  await cloud.spend(scope, 10)
  const early = await cloud.output()
  cloud.world.now += 1_000
  await cloud.spend(scope, 20)
  await sendUsage(cloud, home)
  const stored = await home.world.storage.list('')
  await sendUsage(cloud, home)
  const other = home.world.start().ledger
  for (const account of [...(await cloud.output()), ...early]) await other.applySpending('m', account)
  assert.equal(await home.world.storage.list(''), stored)
  assert.equal(
    (await other.getStates(scope)).map(({ used }) => used),
    [30, 30],
  )
})

test('usage from the other side expires with its window', async () => {
  const { home, cloud, scope } = openSides()
  await cloud.spend(scope, 60)
  await sendUsage(cloud, home)
  await home.spend(scope, 1)
  for (const { world } of [home, cloud]) await world.pass(3_600_000)
  assert.equal(await home.used(scope), [0, 61])
  await exchange(home, cloud)
  assert.equal(
    [await home.used(scope), await cloud.used(scope)],
    [
      [0, 61],
      [0, 61],
    ],
  )
})

test("a side with a slow clock counts usage in the other side's windows", async () => {
  const { home, cloud, scope } = openSides()
  cloud.world.now += 3_600_000
  await cloud.spend(scope, 60)
  await home.spend(scope, 1)
  await exchange(home, cloud)
  assert.equal(
    [await home.used(scope), await cloud.used(scope)],
    [
      [60, 61],
      [60, 61],
    ],
  )
})

test('resetting counters on one side also resets them on the other, and older counters are ignored', async () => {
  const { home, cloud, scope } = openSides()
  await home.spend(scope, 20)
  await cloud.spend(scope, 30)
  await exchange(home, cloud)
  await home.ledger.reset(scope)
  assert.equal(await home.used(scope), [0, 0])
  await sendUsage(cloud, home)
  const other = home.world.start().ledger // an instance that hasn't received the usage yet
  for (const account of await cloud.output()) await other.applySpending('m', account)
  assert.equal(await home.used(scope), [0, 0], "the cloud's usage from before the reset doesn't count")
  await home.spend(scope, 5)
  await exchange(home, cloud)
  assert.equal(
    [await home.used(scope), await cloud.used(scope)],
    [
      [5, 5],
      [5, 5],
    ],
  )
  await cloud.ledger.reset(scope)
  await cloud.spend(scope, 7)
  await exchange(home, cloud)
  await exchange(home, cloud)
  assert.equal(
    [await home.used(scope), await cloud.used(scope)],
    [
      [7, 7],
      [7, 7],
    ],
  )
})

test('usage from an earlier replica still counts, and is reported to the next one', async () => {
  const { home, cloud, scope } = openSides()
  await cloud.spend(scope, 40)
  await sendUsage(cloud, home)
  const next = openSide()
  await sendUsage(home, next, 'n')
  assert.equal(await next.used(scope), [40, 40])
  await next.spend(scope, 2)
  for (let times = 0; times < 3; times++) {
    await sendUsage(next, home, 'n')
    await sendUsage(home, next, 'n')
    assert.equal(
      [await home.used(scope), await next.used(scope)],
      [
        [42, 42],
        [42, 42],
      ],
    )
  }
})

test('a record from before replicas were tracked is readable, and keeps counting', async () => {
  const { home, cloud, scope } = openSides()
  await home.spend(scope, 9)
  const [{ key: name, value } = { key: '', value: '' }] = await home.world.storage.list('limits/')
  const { epoch, number, elsewhere, ...earlier } = JSON.parse(value)
  assert.equal([epoch, elsewhere, number > 0], [0, undefined, true])
  await home.world.storage.set(name, JSON.stringify({ ...earlier, v: 1 }))
  await cloud.spend(scope, 1)
  const other = home.world.start().ledger
  for (const account of await cloud.output()) await other.applySpending('m', account)
  assert.equal(
    (await other.getStates(scope)).map(({ used }) => used),
    [10, 10],
  )
})

test("accounts are reported in pages, without the gateway's own account and unused ones", async () => {
  const { home } = openSides()
  const limits = { tokens: { total: 100 } }
  for (const id of ['a/b', 'c', 'd']) await home.spend(key(limits, id), 1)
  await home.spend({ scope: 'gateway', id: '', limits }, 1)
  await home.ledger.reserve([key(limits, 'held')], { fixed: { tokens: 1 } })
  const recorded: string[] = []
  let after: string | undefined
  do {
    const page = await home.ledger.listSpending('m', { limit: 2, after })
    recorded.push(...page.accounts.map(({ scope, id }) => `${scope} ${id}`))
    after = page.next
  } while (after !== undefined)
  assert.equal(recorded, ['key a/b', 'key c', 'key d'])
})
