import { isRestricted } from '../../src/features/access/access-feature.ts'
import { Access } from '../../src/features/access/allowed-models.ts'
import { listLimitedScopes } from '../../src/features/limits/gate.ts'
import type { LimitedScope, LimitRejection } from '../../src/features/limits/ledger/ledger.ts'
import { createLimitError } from '../../src/features/limits/limit-errors.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import type { StoredSettings } from '../../src/records/stored-settings.ts'
import type { Caller } from '../../src/request/caller.ts'
import { assertReserved, getReason, key, open } from '../limits/support/ledgers.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('token limits')

const once = { requests: { total: 1 } }
const token = (id: string): LimitedScope => ({ scope: 'run', id, limits: once })
const caller: Caller = { owner: 'r', key: undefined, account: { id: 'a', ref: 'r' }, token: { id: 't', limits: once } }

test('a caller is subject to the limits, models, and kinds of its token', () => {
  assert.equal(listLimitedScopes(caller, {} as StoredSettings), [token('t')])
  assert.not.ok(isRestricted(caller))
  const restricted = { ...caller, token: { id: 't', models: ['a/*'], kinds: ['llm' as const] } }
  assert.ok(isRestricted(restricted))
  const access = new Access(restricted, defaultCatalog)
  assert.ok(access.allowsName('a/b') && access.allowsKind('llm'))
  assert.not.ok(access.allowsName('b/b') || access.allowsKind('tts'))
})

test('a single-request token is accepted once, on two instances with 50 concurrent requests each', async () => {
  const { one, other } = open()
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      (index % 2 ? one : other).reserve([token('t')], { fixed: { requests: 1 } }),
    ),
  )
  const passed = outcomes.filter(({ kind }) => kind === 'reserved')
  assert.is(passed.length, 1)
  const again = await one.reserve([token('t')], { fixed: { requests: 1 } })
  assert.equal(getReason(again), ['held', 'run', 'requests', 'total'])
  assertReserved(passed[0] ?? again).settle({ requests: 1 })
  const rejected = await one.reserve([token('t')], { fixed: { requests: 1 } })
  assert.equal(getReason(rejected), ['used-up', 'run', 'requests', 'total'])
  if (rejected.kind !== 'rejected') assert.unreachable()
  const terms = {
    neededAmount: 1,
    limitsOutput: false,
    now: 0,
    headers: {},
    holders: { key: undefined, group: undefined },
  }
  const { message } = createLimitError(rejected as LimitRejection, terms)
  assert.match(message, /This token can make 1 request in total and has made 1/)
  assertReserved(await one.reserve([token('u')], { fixed: { requests: 1 } }))
})

test("token counters aren't synced to the cloud or listed as near their limits", async () => {
  const { world, one } = open()
  for (let index = 0; index < 30; index++)
    assertReserved(await one.reserve([token(`t${index}`)], { fixed: { requests: 1 } })).settle({ requests: 1 })
  assertReserved(await one.reserve([key({ requests: { day: 1 } })], { fixed: { requests: 1 } })).settle({ requests: 1 })
  await one.waitForWrites()
  const { accounts, next } = await one.listSpending('mirror', { limit: 10 })
  assert.equal(
    accounts.map(({ scope }) => scope),
    ['key'],
  )
  assert.is(next, undefined)
  const near = await one.listNearLimits(() => once)
  assert.equal(
    near.map(({ scope }) => scope),
    ['key'],
  )
  assert.ok((await world.storage.list('limits/run/')).length === 30)
})
