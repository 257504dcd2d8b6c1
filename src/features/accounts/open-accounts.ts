import { type CancelDeadline, startDeadline } from '../../lib/deadline.ts'
import type { InFlight } from '../../lib/in-flight.ts'
import { getEndUser } from '../../protocols/formats/end-user.ts'
import { withEndUser } from '../../protocols/formats/with-end-user.ts'
import { createKeyAccess } from '../../records/key-access.ts'
import type { Store } from '../../records/store.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import type { CallChange } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import { type AccountOptions, type Accounts, createAccounts, type PrepareLimits } from './accounts.ts'

export interface OpenAccountsDependencies {
  store: Pick<Store, 'storage' | 'keyring' | 'freshness' | 'groups' | 'openKeyAccess' | 'callers' | 'isWatched'>
  clock: Clock
  options?: AccountOptions | undefined
  prepareLimits?: PrepareLimits | undefined
  inFlight: InFlight
  maxAgeMs: number
  onError(error: unknown): void
}

export interface OpenAccounts extends Accounts {
  /** Schedules a check for in-flight requests of paused accounts, `maxAgeMs` from now. Repeats it while requests with accounts are in flight. */
  scheduleCheck(): void
  close(): void
}

/** Opens the accounts and ends in-flight requests of paused accounts. */
export function openAccounts(dependencies: OpenAccountsDependencies): OpenAccounts {
  const { store, clock, inFlight, maxAgeMs } = dependencies
  let isClosed = false
  let cancelScheduledCheck: CancelDeadline | undefined
  const accounts = createAccounts(dependencies)
  accounts.onChange((ref) => void checkRequests((account) => account.ref === ref))
  store.openKeyAccess(createKeyAccess).groups.onChange((id) => void checkRequests((account) => account.plan?.id === id))

  /** Ends the in-flight requests of matching accounts that have been paused. While storage can't be read, the requests continue. */
  async function checkRequests(isMatch: (account: AccountInFlight) => boolean): Promise<void> {
    const accountsByRef = new Map<string, AccountInFlight>()
    for (const { caller } of inFlight.values())
      if (caller.account && isMatch(caller.account)) accountsByRef.set(caller.account.ref, caller.account)
    await Promise.all(
      Array.from(accountsByRef.values(), async ({ ref, plan }) => {
        const rejection = await accounts.findRejection(ref, plan?.id).catch(() => undefined)
        if (!rejection) return
        for (const request of inFlight.values()) if (request.caller.account?.ref === ref) request.cancel(rejection)
      }),
    )
  }

  function scheduleCheck(): void {
    if (isClosed) return
    cancelScheduledCheck ??= startDeadline(clock, maxAgeMs, () => {
      cancelScheduledCheck = undefined
      if (isClosed || !inFlight.values().some(({ caller }) => caller.account)) return
      void checkRequests(() => true)
      scheduleCheck()
    })
  }

  return {
    ...accounts,
    scheduleCheck,
    close() {
      isClosed = true
      cancelScheduledCheck?.()
    },
  }
}

/**
 * Replaces the end user in the client's request with the account's ref. Endpoints other than chat may reject the field, so they get it only if the
 * client sent it.
 */
export const replaceEndUser = (
  { kind, format, body }: CallRequest,
  { ref }: { ref: string },
): CallChange | undefined =>
  kind === 'llm' || getEndUser(format, body) !== undefined ? { body: withEndUser(format, body, ref) } : undefined

type AccountInFlight = NonNullable<ReturnType<InFlight['values']>[number]['caller']['account']>
