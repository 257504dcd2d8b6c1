import { type GatewayError, gatewayError } from '../../errors.ts'
import { isAccountId } from '../../lib/account-ids.ts'
import { getSettledValue } from '../../lib/promises.ts'
import { createKeyAccess } from '../../records/key-access.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import { ACCOUNTS_PREFIX } from '../../records/record-collections.ts'
import type { Store } from '../../records/store.ts'
import type { CallerAccount } from '../../request/caller.ts'
import type { Identity } from '../../request/identity.ts'
import type { Clock } from '../../types.ts'
import { createLimitCombiner } from './account-limits.ts'
import { createPausedPlanError, createPlanFinder } from './account-plans.ts'
import { type AccountRefs, createAccountRefs } from './account-refs.ts'
import { AccountUseRecorder } from './account-use.ts'
import { CallerAccounts } from './caller-accounts.ts'
import { type AccountCache, createAccountCache, type KnownAccount } from './known-accounts.ts'
import { createNewAccountLimiter } from './new-accounts.ts'

/** Options for the accounts that `identify` returns. */
export interface AccountOptions {
  /** The plan for accounts without one from `identify` or from their record: the ID or name of a group. Default: none. */
  defaultPlan?: string
  /** How many previously unseen accounts each instance admits per minute. Default: 1,000. Beyond that, requests get a 503. */
  newPerMinute?: number
  /** Days without requests after which an account is forgotten, unless the management API created or changed it. Default: 90. */
  idleDays?: number
  /**
   * Whether to send the account's ref to providers as the end user, replacing the one that the client sent (`safety_identifier`, `user`,
   * `metadata.user_id`). Default: `false`. Gemini clients can't send one.
   */
  forwardRef?: boolean
}

/** The accounts of your app's users and customers. */
export interface Accounts {
  /**
   * Finds the account for an identity, with its plan and limits. Also admits an account that isn't stored yet, which `markSeen` then stores. Rejects
   * with `ACCOUNT_PAUSED`, `TOO_MANY_NEW_ACCOUNTS`, `IDENTITY_INVALID` for a plan that doesn't exist, `STORAGE_UNAVAILABLE` if the account isn't in
   * memory, and `STORAGE_FAILED`.
   */
  getAccount(identity: Identity): Promise<CallerAccount>
  /**
   * Finds a key's account or, for a key that acts for accounts, the account with the ID `requestedAccount`. Rejects with the same errors as
   * `getAccount`, with `CALLER_UNUSABLE` if the key's account doesn't exist, and with `INVALID_REQUEST` if `requestedAccount` isn't a valid ID.
   */
  getKeyAccount(key: Pick<ClientKey, 'name' | 'account' | 'actsFor'>, requestedAccount?: string): Promise<CallerAccount>
  /** Records that an account's request was sent to a provider. Writes at most once a day. Never rejects. */
  markSeen(account: CallerAccount): Promise<void>
  /** Returns the error that must end in-flight requests, if any: `ACCOUNT_PAUSED`. Rejects if storage can't be read. */
  findRejection(ref: string, planId: string | undefined): Promise<GatewayError | undefined>
  /**
   * Returns a stored account's plan, and also its limits unless `identify` returns limits. Returns `undefined` if the account isn't stored. Rejects
   * if storage can't be read.
   */
  findPlanAndLimits(ref: string): Promise<Pick<CallerAccount, 'plan' | 'limits'> | undefined>
  /** Calls `listener` with the ref of each account that the management API changes, on this instance or another. */
  onChange(listener: (ref: string) => void): void
  /** Call this after changing the account's record on this instance. */
  notifyChanged(ref: string): void
  readonly refs: AccountRefs
  readonly cache: AccountCache
}

/** Prefetches the counters for an account and its plan. */
export type PrepareLimits = (account: Pick<CallerAccount, 'ref' | 'limits' | 'plan'>) => void

export function createAccounts({
  store,
  clock,
  options: { defaultPlan, newPerMinute = 1_000, idleDays = 90 } = {},
  prepareLimits,
  onError,
}: {
  store: Pick<Store, 'storage' | 'keyring' | 'freshness' | 'groups' | 'openKeyAccess' | 'callers'>
  clock: Clock
  options?: AccountOptions | undefined
  prepareLimits?: PrepareLimits | undefined
  onError(error: unknown): void
}): Accounts {
  const { storage, keyring, freshness, groups } = store
  const { groups: groupCache } = store.openKeyAccess(createKeyAccess)
  const refs = createAccountRefs(keyring)
  const cache = createAccountCache({ ...store, clock })
  const findPlan = createPlanFinder({ groups, groupCache })
  const combineLimits = createLimitCombiner()
  const admitNewAccount = createNewAccountLimiter({ clock, newPerMinute, onError })
  const callerAccounts = new CallerAccounts(findPlan, combineLimits)
  const useRecorder = new AccountUseRecorder({ storage, keyring, clock, cache, idleDays, onError })
  const listeners: Array<(ref: string) => void> = []
  const notify = (ref: string) => {
    for (const listener of listeners) listener(ref)
  }
  freshness.onChange((key) => {
    if (key.startsWith(ACCOUNTS_PREFIX)) notify(decodeURIComponent(key.slice(ACCOUNTS_PREFIX.length)))
  })

  async function findKnownAccount(ref: string): Promise<KnownAccount | undefined> {
    const accountPromise = cache.find(ref)
    return getSettledValue(accountPromise) ?? (await accountPromise)
  }

  /** Prefetches counters while the account's record is being read, because the record usually doesn't change the limits. */
  async function prefetchLimits(ref: string, { plan: planName = defaultPlan, limits }: Identity): Promise<void> {
    const plan = planName === undefined ? undefined : await findPlan(planName).catch(() => undefined)
    prepareLimits?.({ ref, plan, limits: limits ?? plan?.each })
  }

  async function getAccount(identity: Identity, plan = defaultPlan): Promise<CallerAccount> {
    const refPromise = refs.find(identity.account)
    const ref = getSettledValue(refPromise) ?? (await refPromise)
    const accountPromise = cache.find(ref)
    if (!getSettledValue(accountPromise)) void prefetchLimits(ref, { plan, ...identity })
    const account = getSettledValue(accountPromise) ?? (await accountPromise)
    if (!account) admitNewAccount(ref)
    return callerAccounts.create(account, { ref, identity, defaultPlan: plan })
  }

  return {
    refs,
    cache,
    getAccount(identity) {
      store.callers?.preload(undefined, identity.account)
      return getAccount(identity)
    },

    async getKeyAccount(key, requestedAccount) {
      if (requestedAccount !== undefined) {
        if (!isAccountId(requestedAccount)) throw gatewayError('INVALID_REQUEST', { message: INVALID_ACCOUNT_MESSAGE })
        return getAccount({ account: requestedAccount }, key.actsFor?.plan)
      }
      const { account: ref = '' } = key
      const account = await findKnownAccount(ref)
      if (!account) throw createMissingAccountError(key, ref)
      return callerAccounts.create(account, { ref, identity: { account: account.id }, defaultPlan })
    },

    async markSeen(account) {
      const identity = callerAccounts.getIdentity(account)
      if (identity) await useRecorder.record(account.ref, identity)
    },

    async findRejection(ref, planId) {
      const [account, plan] = await Promise.all([
        cache.reread(ref),
        planId === undefined ? undefined : groupCache.reread(planId),
      ])
      if (account?.isActive === false) return gatewayError('ACCOUNT_PAUSED')
      return plan?.isActive === false ? createPausedPlanError() : undefined
    },

    async findPlanAndLimits(ref) {
      const account = await cache.reread(ref)
      if (!account) return undefined
      const planName = account.plan ?? defaultPlan
      const plan = planName === undefined ? undefined : await findPlan(planName, { includePaused: true })
      const accountLimits = plan?.each
      return { plan, limits: account.limits ? combineLimits(accountLimits ?? {}, account.limits) : accountLimits }
    },

    onChange: (listener) => void listeners.push(listener),

    notifyChanged(ref) {
      cache.forget(ref)
      useRecorder.forget(ref)
      notify(ref)
    },
  }
}

const createMissingAccountError = (key: Pick<ClientKey, 'name'>, ref: string) =>
  gatewayError('CALLER_UNUSABLE', {
    message: `The account of the API key "${key.name}" does not exist. Ask the operator of this gateway for a new key.`,
    data: { account: ref },
  })

const INVALID_ACCOUNT_MESSAGE = 'The header x-signalbox-account is not a valid account ID.'
