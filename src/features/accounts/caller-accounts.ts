import { gatewayError } from '../../errors.ts'
import type { CallerAccount, ModelPermissions } from '../../request/caller.ts'
import type { Identity } from '../../request/identity.ts'
import type { CombineLimits } from './account-limits.ts'
import type { FindPlan } from './account-plans.ts'
import type { KnownAccount } from './known-accounts.ts'

/** Creates caller accounts from records and identities. */
export class CallerAccounts {
  readonly #findPlan: FindPlan
  readonly #combineLimits: CombineLimits
  readonly #identities = new WeakMap<CallerAccount, Identity>()
  /** The latest account created from each record. */
  readonly #latestAccounts = new WeakMap<KnownAccount, CallerAccount>()

  constructor(findPlan: FindPlan, combineLimits: CombineLimits) {
    this.#findPlan = findPlan
    this.#combineLimits = combineLimits
  }

  /**
   * Creates a caller's account, or returns the latest one from the same record if nothing differs. `defaultPlan` is the plan for an account without
   * one. Rejects with `ACCOUNT_PAUSED`, or with the same errors as `FindPlan`.
   */
  async create(
    knownAccount: KnownAccount | undefined,
    { ref, identity, defaultPlan }: { ref: string; identity: Identity; defaultPlan: string | undefined },
  ): Promise<CallerAccount> {
    if (knownAccount?.isActive === false) throw gatewayError('ACCOUNT_PAUSED')
    const planName = identity.plan ?? knownAccount?.plan ?? defaultPlan
    const plan = planName === undefined ? undefined : await this.#findPlan(planName)
    const cachedAccount = knownAccount && this.#latestAccounts.get(knownAccount)
    if (cachedAccount && cachedAccount.plan === plan && isSameIdentity(this.#identities.get(cachedAccount), identity))
      return cachedAccount
    const accountLimits = identity.limits ?? plan?.each
    const limits =
      identity.limits || knownAccount?.limits
        ? this.#combineLimits(accountLimits ?? {}, knownAccount?.limits)
        : accountLimits
    const allowed = [identity, knownAccount].flatMap((account) => (account ? (pickAllowlists(account) ?? []) : []))
    const require = [identity.require, knownAccount?.require, plan?.require].filter((tags) => tags !== undefined)
    const account: CallerAccount = {
      id: identity.account,
      ref,
      name: identity.name ?? knownAccount?.name,
      plan,
      limits,
      metadata: identity.metadata ?? knownAccount?.metadata,
      tags: identity.tags,
      ...(allowed.length > 0 && { allowed }),
      ...(require.length > 0 && { require }),
      ...(knownAccount?.promptCaching !== undefined && { promptCaching: knownAccount.promptCaching }),
    }
    this.#identities.set(account, identity)
    if (knownAccount) this.#latestAccounts.set(knownAccount, account)
    return account
  }

  /** Returns the identity that an account was created from. */
  getIdentity(account: CallerAccount): Identity | undefined {
    return this.#identities.get(account)
  }
}

/** Returns whether both have the same fields with identical values. If so, an account created from one also fits the other. */
function isSameIdentity(a: Identity | undefined, b: Identity): boolean {
  const fieldNames = Object.keys(b) as Array<keyof Identity> // an identity has no other fields
  return (
    a !== undefined && fieldNames.length === Object.keys(a).length && fieldNames.every((name) => a[name] === b[name])
  )
}

const pickAllowlists = ({ models, kinds }: ModelPermissions): ModelPermissions | undefined =>
  (models ?? kinds) === undefined ? undefined : { models, kinds }
