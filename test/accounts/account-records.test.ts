import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { openAccounts } from './support/open-accounts.ts'

const test = suite('account records')

const DAY_MS = 24 * 60 * 60 * 1_000
const HOSTILE_IDS = ['__proto__', 'constructor', 'a/b', '../x', '%2e', 'A', 'a']

test('ids with special characters map to distinct accounts', async () => {
  const { use, refsOf } = openAccounts()
  const refs = []
  for (const account of HOSTILE_IDS) refs.push((await use({ account })).ref)
  assert.is(new Set(refs).size, HOSTILE_IDS.length)
  assert.equal(await refsOf(), refs.map((ref) => `accounts/${ref}`).sort())
})

test('an account is stored on its first attempt, and rewritten at most once a day', async () => {
  const { accounts, use, refsOf, storage, clock } = openAccounts()
  await accounts.getAccount({ account: 'alice' })
  assert.equal(await refsOf(), [])
  await use({ account: 'alice' })
  const [first] = await storage.list('accounts/')
  await use({ account: 'alice' })
  await clock.advance(6_000)
  await use({ account: 'alice' })
  assert.equal(await storage.list('accounts/'), [first])
  await clock.advance(DAY_MS)
  await use({ account: 'alice' })
  assert.is.not((await storage.list('accounts/'))[0]?.version, first?.version)
})

test('an account expires after 90 idle days, counted from its last use', async () => {
  const { use, refsOf, clock } = openAccounts()
  await use({ account: 'alice' })
  await use({ account: 'bob' })
  await clock.advance(60 * DAY_MS)
  await use({ account: 'bob' })
  await clock.advance(31 * DAY_MS)
  assert.is((await refsOf()).length, 1)
  await clock.advance(60 * DAY_MS)
  assert.is((await refsOf()).length, 0)
})

test("an account changed through the management API doesn't expire", async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  const { api } = createGateway({ storage, clock, logger: false, accounts: { idleDays: 1 } })
  await api.accounts.put({ id: 'alice' })
  await clock.advance(1_000 * DAY_MS)
  assert.is((await api.accounts.get('alice')).id, 'alice')
})

test("rejected account ids don't change the storage", async () => {
  const { accounts, dump, tell } = openAccounts({ options: { newPerMinute: 100 } })
  await tell({ account: 'first' })
  const before = await dump()
  for (let index = 0; index < 2_000; index++) await accounts.getAccount({ account: `id-${index}` }).catch(() => {})
  assert.is(await dump(), before)
})

test('the 1,001st new account within a minute gets a 503, and known accounts still work', async () => {
  const { accounts, use, tell, errors, clock } = openAccounts()
  await use({ account: 'known' })
  await clock.advance(60_000)
  for (let index = 0; index < 1_000; index++) assert.is(await tell({ account: `id-${index}` }), 'ok')
  assert.is(await tell({ account: 'id-0' }), 'ok', 'the account was already counted')
  assert.is(await tell({ account: 'one more' }), '503 TOO_MANY_NEW_ACCOUNTS')
  assert.is(await tell({ account: 'and another' }), '503 TOO_MANY_NEW_ACCOUNTS')
  assert.is(await tell({ account: 'known' }), 'ok')
  assert.is(errors.length, 1, 'errors are reported once a minute')
  const error = await accounts.getAccount({ account: 'x' }).catch((error: { headers?: object }) => error)
  assert.equal(error && 'headers' in error && error.headers, { 'retry-after': '60' })
  await clock.advance(60_000)
  assert.is(await tell({ account: 'one more' }), 'ok')
})

test("the storage never contains an account's id, name, or email address in plaintext", async () => {
  const { use, dump } = openAccounts()
  const canary = 'canary-5b1c9d7e'
  await use({
    account: `user-${canary}`,
    name: `Alice ${canary}`,
    metadata: { email: `${canary}@example.com` },
    limits: { usd: { month: 5 } },
  })
  const text = await dump()
  assert.match(text, /accounts\/a_/)
  for (const form of [canary, btoa(canary), btoa(`user-${canary}`).slice(0, 16)]) assert.not.ok(text.includes(form))
})

test('a plan can be referenced by id or name, and its per-account limits apply', async () => {
  const { accounts, putPlan } = openAccounts({ options: { defaultPlan: 'Free' } })
  await putPlan({ id: 'plan-1', name: 'Free', each: { usd: { month: 1 } }, limits: { usd: { month: 100 } } })
  await putPlan({ id: 'pro', name: 'Pro', each: { usd: { month: 20 } } })
  const free = await accounts.getAccount({ account: 'alice' })
  assert.equal([free.plan?.id, free.limits], ['plan-1', { usd: { month: 1 } }])
  assert.is((await accounts.getAccount({ account: 'bob' })).limits, free.limits, 'both share one object')
  for (const plan of ['pro', 'Pro']) {
    const { limits } = await accounts.getAccount({ account: 'alice', plan })
    assert.equal(limits, { usd: { month: 20 } })
  }
})

test('an account with an unknown plan gets a 500, and one with a paused plan gets a 403', async () => {
  const { tell, putPlan } = openAccounts()
  assert.is(await tell({ account: 'alice', plan: 'nope' }), '500 IDENTITY_INVALID')
  await putPlan({ id: 'nope' })
  assert.is(await tell({ account: 'alice', plan: 'nope' }), 'ok')
  await putPlan({ id: 'nope', isActive: false })
  assert.is(await tell({ account: 'alice', plan: 'nope' }), '403 ACCOUNT_PAUSED')
})

test("an identity's limits replace the plan's, and equal limits share one object", async () => {
  const { accounts, putPlan } = openAccounts()
  await putPlan({ id: 'pro', each: { usd: { month: 20 }, requests: { minute: 5 } } })
  const getOwnLimits = () => ({ requests: { minute: 9, day: 100 }, parallel: 2 })
  const one = await accounts.getAccount({ account: 'alice', plan: 'pro', limits: getOwnLimits() })
  const other = await accounts.getAccount({
    account: 'bob',
    limits: { parallel: 2, requests: { day: 100, minute: 9 } },
  })
  assert.equal(one.limits, getOwnLimits())
  assert.is(one.limits, other.limits)
})

test("the plan that the app sets also applies to the account's keys, even after the app switches plans", async () => {
  const { accounts, use, putPlan, clock } = openAccounts()
  await putPlan({ id: 'free' })
  await putPlan({ id: 'pro' })
  const { ref } = await use({ account: 'alice', plan: 'free', name: 'Alice' })
  const byKey = () => accounts.getKeyAccount({ name: 'app', account: ref })
  assert.equal([(await byKey()).plan?.id, (await byKey()).id, (await byKey()).name], ['free', 'alice', 'Alice'])
  await clock.advance(6_000)
  await use({ account: 'alice', plan: 'pro' })
  assert.equal([(await byKey()).plan?.id, (await byKey()).name], ['pro', 'Alice'])
})

test('a record that was changed by another program or copied from another account is rejected', async () => {
  const storage = memoryStorage()
  const { use, tell } = openAccounts({ storage })
  const { ref } = await use({ account: 'alice' })
  const other = await use({ account: 'bob' })
  const stored = await storage.get(`accounts/${ref}`)
  const { order, record } = JSON.parse(stored?.value ?? '')
  await storage.set(`accounts/${ref}`, JSON.stringify({ order, record: { ...record, plan: 'free' } }))
  assert.is(await openAccounts({ storage }).tell({ account: 'alice' }), '500 CALLER_UNUSABLE')
  await storage.set(`accounts/${other.ref}`, stored?.value ?? '')
  assert.is(await openAccounts({ storage }).tell({ account: 'bob' }), '500 CALLER_UNUSABLE')
  assert.is(await tell({ account: 'carol' }), 'ok')
})

test('while the storage is unavailable, known accounts work, and unknown ones get a 503', async () => {
  const clock = fakeClock()
  const storage = memoryStorage({ clock })
  let isUnavailable = false
  const flaky: Storage = {
    ...storage,
    get: async (key) => {
      if (isUnavailable) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
      return storage.get(key)
    },
  }
  const { use, tell } = openAccounts({ clock, storage: flaky })
  await use({ account: 'alice' })
  await use({ account: 'alice' })
  isUnavailable = true
  assert.is(await tell({ account: 'alice' }), 'ok')
  assert.is(await tell({ account: 'bob' }), '503 STORAGE_UNAVAILABLE')
  isUnavailable = false
  assert.is(await tell({ account: 'bob' }), 'ok')
})

test('accounts survive setting the first secret', async () => {
  const { ownSecret: _, ...storage } = memoryStorage()
  const before = openAccounts({ storage, secret: undefined })
  const { ref } = await before.use({ account: 'alice', name: 'Alice' })
  const { accounts } = openAccounts({ storage })
  const { id, name } = await accounts.getKeyAccount({ name: 'app', account: ref })
  assert.equal([id, name, (await accounts.getAccount({ account: 'alice' })).ref], ['alice', 'Alice', ref])
})
