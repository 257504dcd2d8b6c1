import { gatewayError } from '../../errors.ts'
import { fromNanoUsd } from '../../lib/usd.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { Clock, Kind, LimitState, LimitWindow } from '../../types.ts'
import type { UsageStore } from '../usage/usage.ts'
import { listScopes } from './gate.ts'
import type { Ledger } from './ledger/ledger.ts'
import { toMinute, windowStart } from './ledger/windows.ts'
import { findScarcest } from './limit-headers.ts'

/** The caller's key and limits, as `GET /v1/account` returns them. */
export interface Account {
  object: 'account'
  /** `null` for a request without a key, if none is required. */
  key: {
    id: string
    name: string
    expiresAt: string | null
    group: { id: string; name: string } | null
    /** The models and kinds that the key may use; `null` means all. Its group can restrict them further. */
    models: string[] | null
    kinds: Kind[] | null
  } | null
  /** All limits that apply: those of the key, of its group, and of the gateway. */
  limits: LimitState[]
}

interface AccountTerms {
  ledger: Ledger
  settings: StoredSettings
  clock: Clock
  /** The records of requests; absent where none are kept. */
  usage: UsageStore | undefined
}

/** Reads the account of a caller. Each function rejects with `STORAGE_UNAVAILABLE` while the counters can't be read. */
export const createAccountReaders = (terms: AccountTerms) => ({
  account: (key: ClientKey | undefined) => readAccount(key, terms),
  /** As OpenRouter's `GET /v1/key` returns it. Throws `KEY_MISSING` without a key. */
  openRouterKey: (key: ClientKey | undefined) => readOpenRouterKey(requireKey(key), terms),
  /** As OpenRouter's `GET /v1/credits` returns it; `total_credits` is `null` without a limit on dollars. Throws `KEY_MISSING` without a key. */
  openRouterCredits: (key: ClientKey | undefined) => readOpenRouterCredits(requireKey(key), terms),
})

async function readAccount(key: ClientKey | undefined, { ledger, settings }: AccountTerms): Promise<Account> {
  const states = await Promise.all(listScopes(key, settings).map((scope) => ledger.state(scope)))
  const limits = states.flat()
  if (!key) return { object: 'account', key: null, limits }
  const { id, name, expiresAt = null, group, models = null, kinds = null } = key
  const shown = { id, name, expiresAt, group: group ? { id: group.id, name: group.name } : null, models, kinds }
  return { object: 'account', key: shown, limits }
}

function requireKey(key: ClientKey | undefined): ClientKey {
  if (key) return key
  throw gatewayError('KEY_MISSING', { headers: { 'www-authenticate': 'Bearer' } })
}

async function readOpenRouterKey(key: ClientKey, terms: AccountTerms): Promise<object> {
  const [{ limits }, spent] = await Promise.all([readAccount(key, terms), readSpent(key, terms)])
  const budget = findScarcest(limits, 'usd')
  const rate = findScarcest(limits, 'requests')
  const data = {
    label: key.name,
    limit: budget?.limit ?? null,
    limit_remaining: budget?.remaining ?? null,
    limit_reset: (budget?.window && RESETS[budget.window]) ?? null,
    usage: spent.total,
    usage_daily: spent.day,
    usage_weekly: spent.week,
    usage_monthly: spent.month,
    ...{ byok_usage: 0, byok_usage_daily: 0, byok_usage_weekly: 0, byok_usage_monthly: 0 },
    include_byok_in_limit: false,
    ...{ is_free_tier: false, is_provisioning_key: false, is_management_key: false },
    creator_user_id: null,
    expires_at: key.expiresAt ?? null,
    rate_limit: {
      requests: rate?.limit ?? -1,
      interval: (rate?.window && INTERVALS[rate.window]) ?? '',
      note: 'GET /v1/account returns all limits.',
    },
  }
  return { data }
}

async function readOpenRouterCredits(key: ClientKey, terms: AccountTerms): Promise<object> {
  const [{ limits }, spent] = await Promise.all([readAccount(key, terms), readSpent(key, terms)])
  const budget = findScarcest(limits, 'usd')
  const used = budget ? budget.used + budget.unsettled : spent.total
  return { data: { total_credits: budget?.limit ?? null, total_usage: used } }
}

/** US dollars by window; `null`: not known. */
interface SpentIn {
  day: number | null
  week: number | null
  month: number | null
  total: number | null
}

/** The key's spending in US dollars: from its counters if it has its own limits, otherwise from the usage records; `null` if there are none. */
async function readSpent(key: ClientKey, terms: AccountTerms): Promise<SpentIn> {
  const { id, limits } = key
  const { ledger } = terms
  if (!limits) return readRecordedSpending(key, terms)
  const spent: SpentIn = { day: 0, week: 0, month: 0, total: 0 }
  const all = { usd: { day: 1, week: 1, month: 1, total: 1 } }
  for (const { window, used } of await ledger.state({ scope: 'key', id, limits: all }))
    if (window && window in spent) Object.assign(spent, { [window]: used })
  return spent
}

/** Sums whole days, for as long as the gateway keeps them. */
async function readRecordedSpending({ id }: ClientKey, { usage, clock }: AccountTerms): Promise<SpentIn> {
  if (!usage) return { day: null, week: null, month: null, total: null }
  const minute = toMinute(clock.now())
  const nano = { day: 0, week: 0, month: 0, total: 0 }
  const windows = (['day', 'week', 'month', 'total'] as const).map(
    (window) => [window, windowStart(window, minute) * 60_000] as const,
  )
  const reader = await usage.reader()
  await reader.sums({ keyId: id }, { from: 0, to: Number.POSITIVE_INFINITY, unit: 'day' }, ({ sums }, at) => {
    for (const [window, start] of windows) if (at >= start) nano[window] += sums.nano
  })
  return {
    day: fromNanoUsd(nano.day),
    week: fromNanoUsd(nano.week),
    month: fromNanoUsd(nano.month),
    total: fromNanoUsd(nano.total),
  }
}

const RESETS: Partial<Record<LimitWindow, string>> = { day: 'daily', week: 'weekly', month: 'monthly' }
const INTERVALS: Partial<Record<LimitWindow, string>> = {
  minute: '1m',
  hour: '1h',
  day: '1d',
  week: '1w',
  month: '1mo',
}
