import { gatewayError } from '../../errors.ts'
import { fromNanoUsd } from '../../lib/usd.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { Caller, CallerAccount } from '../../request/caller.ts'
import type { Clock, Kind, LimitState, LimitWindow, UsageLimits } from '../../types.ts'
import type { UsageStore } from '../usage/usage.ts'
import { listLimitedScopes } from './gate.ts'
import type { Ledger } from './ledger/ledger.ts'
import { getWindowStart, toMinute } from './ledger/windows.ts'
import { findTightestLimit } from './limit-headers.ts'

/** The caller's account, key, and limits, as `GET /v1/account` returns them. */
export interface Account {
  object: 'account'
  /** Your app's ID for the account that makes the request. This field and the next two are absent without an account. */
  id?: string
  name?: string | null
  /** The name of the account's plan. */
  plan?: string | null
  /** `null` for a request without a key. */
  key: {
    id: string
    name: string
    expiresAt: string | null
    group: { id: string; name: string } | null
    /** The models and kinds that the key may use; `null` means all. Its group can restrict them further. */
    models: string[] | null
    kinds: Kind[] | null
  } | null
  /** All limits that apply: those of the key, its group, the account, its plan, and the gateway. */
  limits: LimitState[]
}

/** A caller's dollar limits and spending, as OpenRouter's `GET /v1/key` returns them. */
export interface OpenRouterKey {
  data: {
    label: string
    limit: number | null
    limit_remaining: number | null
    limit_reset: string | null
    usage: number | null
    usage_daily: number | null
    usage_weekly: number | null
    usage_monthly: number | null
    byok_usage: number
    byok_usage_daily: number
    byok_usage_weekly: number
    byok_usage_monthly: number
    include_byok_in_limit: boolean
    is_free_tier: boolean
    is_provisioning_key: boolean
    is_management_key: boolean
    creator_user_id: string | null
    expires_at: string | null
    rate_limit: { requests: number; interval: string; note: string }
  }
}

/** Total credits and usage, as OpenRouter's `GET /v1/credits` returns them. */
export interface OpenRouterCredits {
  data: { total_credits: number | null; total_usage: number | null }
}

interface AccountReaderDependencies {
  ledger: Ledger
  settings: StoredSettings
  clock: Clock
  /** The usage store. Absent if the gateway doesn't store usage. */
  usage: UsageStore | undefined
}

/** Creates the functions that read a caller's account. All of them reject with `STORAGE_UNAVAILABLE` while the counters can't be read. */
export const createAccountReaders = (options: AccountReaderDependencies) => ({
  account: (caller: Caller) => readAccount(caller, options),
  /** Reads the key as OpenRouter's `GET /v1/key` returns it. Throws `KEY_MISSING` without a key or an account. */
  openRouterKey: (caller: Caller) => readOpenRouterKey(caller, options),
  /**
   * Reads the credits as OpenRouter's `GET /v1/credits` returns them. `total_credits` is `null` if there is no dollar limit. Throws `KEY_MISSING`
   * without a key or an account.
   */
  openRouterCredits: (caller: Caller) => readOpenRouterCredits(caller, options),
})

async function readAccount(caller: Caller, { ledger, settings }: AccountReaderDependencies): Promise<Account> {
  const states = await Promise.all(listLimitedScopes(caller, settings).map((scope) => ledger.getStates(scope)))
  const limits = states.flat()
  const { key, account } = caller
  const accountInfo = account && { id: account.id, name: account.name ?? null, plan: account.plan?.name ?? null }
  return { object: 'account', ...accountInfo, key: key ? showKey(key) : null, limits }
}

function showKey(key: ClientKey): Account['key'] {
  const { id, name, expiresAt = null, group, models = null, kinds = null } = key
  return { id, name, expiresAt, group: group ? { id: group.id, name: group.name } : null, models, kinds }
}

/** Whose spending to report: the request's key, or its account if there is no key. */
interface Spender {
  scope: 'key' | 'account'
  id: string
  label: string
  expiresAt?: string | undefined
  limits?: UsageLimits | undefined
}

function findSpender({ key, account }: Caller): Spender {
  if (key) return { scope: 'key', id: key.id, label: key.name, expiresAt: key.expiresAt, limits: key.limits }
  if (account) return toSpender(account)
  throw gatewayError('KEY_MISSING', { headers: { 'www-authenticate': 'Bearer' } })
}

const toSpender = ({ ref, id, name, limits }: CallerAccount): Spender => ({
  scope: 'account',
  id: ref,
  label: name ?? id,
  limits,
})

async function readOpenRouterKey(caller: Caller, options: AccountReaderDependencies): Promise<OpenRouterKey> {
  const spender = findSpender(caller)
  const [{ limits }, spent] = await Promise.all([readAccount(caller, options), readSpending(spender, options)])
  const budget = findTightestLimit(limits, 'usd')
  const rate = findTightestLimit(limits, 'requests')
  const data = {
    label: spender.label,
    limit: budget?.limit ?? null,
    limit_remaining: budget?.remaining ?? null,
    limit_reset: (budget?.window && RESET_WORDS[budget.window]) ?? null,
    usage: spent.total,
    usage_daily: spent.day,
    usage_weekly: spent.week,
    usage_monthly: spent.month,
    ...{ byok_usage: 0, byok_usage_daily: 0, byok_usage_weekly: 0, byok_usage_monthly: 0 },
    include_byok_in_limit: false,
    ...{ is_free_tier: false, is_provisioning_key: false, is_management_key: false },
    creator_user_id: null,
    expires_at: spender.expiresAt ?? null,
    rate_limit: {
      requests: rate?.limit ?? -1,
      interval: (rate?.window && INTERVAL_WORDS[rate.window]) ?? '',
      note: 'GET /v1/account returns all limits.',
    },
  }
  return { data }
}

async function readOpenRouterCredits(caller: Caller, options: AccountReaderDependencies): Promise<OpenRouterCredits> {
  const spender = findSpender(caller)
  const [{ limits }, spent] = await Promise.all([readAccount(caller, options), readSpending(spender, options)])
  const budget = findTightestLimit(limits, 'usd')
  const usedUsd = budget ? budget.used + budget.unsettled : spent.total
  return { data: { total_credits: budget?.limit ?? null, total_usage: usedUsd } }
}

/** USD by window; `null` means unknown. */
interface SpendingByWindow {
  day: number | null
  week: number | null
  month: number | null
  total: number | null
}

/**
 * Reads the spending in US dollars from the counters or, if the spender has no limits of its own, from the usage store. Unknown values are `null`.
 */
async function readSpending(spender: Spender, options: AccountReaderDependencies): Promise<SpendingByWindow> {
  const { scope, id, limits } = spender
  const { ledger } = options
  if (!limits) return readRecordedSpending(spender, options)
  const spent: SpendingByWindow = { day: 0, week: 0, month: 0, total: 0 }
  const allWindowLimits = { usd: { day: 1, week: 1, month: 1, total: 1 } }
  for (const { window, used } of await ledger.getStates({ scope, id, limits: allWindowLimits }))
    if (window && window in spent) Object.assign(spent, { [window]: used })
  return spent
}

/** Sums the spending by whole days, as far back as usage is retained. */
async function readRecordedSpending(
  { scope, id }: Spender,
  { usage, clock }: AccountReaderDependencies,
): Promise<SpendingByWindow> {
  if (!usage || scope !== 'key') return { day: null, week: null, month: null, total: null }
  const minute = toMinute(clock.now())
  const nanoByWindow = { day: 0, week: 0, month: 0, total: 0 }
  const windows = (['day', 'week', 'month', 'total'] as const).map(
    (window) => [window, getWindowStart(window, minute) * 60_000] as const,
  )
  const reader = await usage.getReader()
  await reader.sumUsage({ keyId: id }, { from: 0, to: Number.POSITIVE_INFINITY, unit: 'day' }, ({ sums }, startMs) => {
    for (const [window, start] of windows) if (startMs >= start) nanoByWindow[window] += sums.nano
  })
  return {
    day: fromNanoUsd(nanoByWindow.day),
    week: fromNanoUsd(nanoByWindow.week),
    month: fromNanoUsd(nanoByWindow.month),
    total: fromNanoUsd(nanoByWindow.total),
  }
}

const RESET_WORDS: Partial<Record<LimitWindow, string>> = { day: 'daily', week: 'weekly', month: 'monthly' }
const INTERVAL_WORDS: Partial<Record<LimitWindow, string>> = {
  minute: '1m',
  hour: '1h',
  day: '1d',
  week: '1w',
  month: '1mo',
}
