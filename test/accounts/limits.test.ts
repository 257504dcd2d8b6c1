import { Access } from '../../src/features/access/allowed-models.ts'
import { listLimitedScopes } from '../../src/features/limits/gate.ts'
import type { LimitedScope } from '../../src/features/limits/ledger/ledger.ts'
import { createLimitError } from '../../src/features/limits/limit-errors.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { StoredSettings } from '../../src/records/stored-settings.ts'
import type { Caller } from '../../src/request/caller.ts'
import { assertReserved, getReason, key, open } from '../limits/support/ledgers.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('account limits')

const REF = 'a_aaaqeayeaudaocajbifqydiob4'
const account = (limits: LimitedScope['limits'], id = REF): LimitedScope => ({ scope: 'account', id, limits })
const settings = (limits?: LimitedScope['limits']) => ({ ...(limits && { limits }) }) as StoredSettings
const one = { requests: { day: 1 } }
const two = { requests: { day: 2 } }

test('a caller is subject to the limits of its key, its account, its plan, and the gateway', () => {
  const plan = { id: 'pro', name: 'Pro', limits: two }
  const caller: Caller = {
    owner: REF,
    key: { id: 'k', name: 'app', digest: 'd', limits: one },
    account: { id: 'alice', ref: REF, plan, limits: one },
  }
  assert.equal(listLimitedScopes(caller, settings(two)), [
    { scope: 'key', id: 'k', limits: one },
    { scope: 'account', id: REF, limits: one },
    { scope: 'group', id: 'pro', limits: two },
    { scope: 'gateway', id: '', limits: two },
  ])
  const ownGroup: Caller = { ...caller, key: { id: 'k', name: 'app', digest: 'd', group: plan } }
  assert.equal(
    listLimitedScopes(ownGroup, settings()).map(({ scope, id }) => `${scope} ${id}`),
    ['group pro', `account ${REF}`],
    'a group is counted once',
  )
})

test("a request counts toward its account's and its key's limits, and must fit within both", async () => {
  const { one: ledger, other } = open()
  const scopes = [key({ requests: { day: 5 } }), account({ requests: { day: 2 } })]
  assertReserved(await ledger.reserve(scopes, { fixed: { requests: 1 } })).settle({ requests: 1 })
  assertReserved(await other.reserve([account({ requests: { day: 2 } })], { fixed: { requests: 1 } })).settle({
    requests: 1,
  })
  assert.equal(getReason(await ledger.reserve(scopes, { fixed: { requests: 1 } })), [
    'used-up',
    'account',
    'requests',
    'day',
  ])
  assert.is((await other.getStates(key({ requests: { day: 5 } })))[0]?.used, 1)
})

test("account counters aren't synced to the cloud or listed as near their limits", async () => {
  const { world, one: ledger } = open()
  const limits = { requests: { day: 1 } }
  for (let index = 0; index < 30; index++)
    assertReserved(await ledger.reserve([account(limits, `a_${index}`)], { fixed: { requests: 1 } })).settle({
      requests: 1,
    })
  assertReserved(await ledger.reserve([key(limits)], { fixed: { requests: 1 } })).settle({ requests: 1 })
  await ledger.waitForWrites()
  assert.is((await world.storage.list('limits/account/')).length, 30)
  const page = await ledger.listSpending('mirror', { limit: 10 })
  assert.equal([page.accounts.map(({ id }) => id), page.next], [['one'], undefined])
  assert.equal(
    (await ledger.listNearLimits(() => limits)).map(({ scope }) => scope),
    ['key'],
  )
})

test('a limit error mentions the account and its plan, without ids', async () => {
  const { one: ledger } = open()
  const wanted = { fixed: { requests: 2 } }
  const terms = { neededAmount: 2, limitsOutput: true, now: 0, headers: {} }
  const messages = await Promise.all(
    [account(one), { scope: 'group' as const, id: 'pro', limits: one }].map(async (scope) => {
      const refusal = await ledger.reserve([scope], wanted)
      if (refusal.kind !== 'rejected') return undefined
      return createLimitError(refusal, { ...terms, holders: { key: undefined, group: undefined, plan: 'Pro' } }).message
    }),
  )
  assert.match(messages[0] ?? '', /your account can use 1 request per day/)
  assert.match(messages[1] ?? '', /the plan "Pro" of your account can use 1 request per day/)
})

test('models and kinds must be allowed by the key, the account, and the plan', () => {
  const caller: Caller = {
    owner: REF,
    key: { id: 'k', name: 'app', digest: 'd', models: ['a', 'b'] },
    account: {
      id: 'alice',
      ref: REF,
      allowed: [{ models: ['b', 'c'] }, { kinds: ['llm'] }],
      plan: { id: 'pro', name: 'Pro', models: ['*'], kinds: ['llm', 'image'] },
    },
  }
  const access = new Access(caller, defaultCatalog)
  assert.equal(
    ['a', 'b', 'c'].filter((name) => access.allowsName(name)),
    ['b'],
  )
  assert.equal([access.allowsKind('llm'), access.allowsKind('image')], [true, false])
})
