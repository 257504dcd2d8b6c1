import type { Feature } from '../../feature.ts'
import { type CancelDeadline, startDeadline } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { InFlight } from '../../lib/in-flight.ts'
import { once, settledValue } from '../../lib/promises.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { Store } from '../../records/store.ts'
import type { AttemptLog } from '../../request/attempt-log.ts'
import type { CallerAccount } from '../../request/caller.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { Clock } from '../../types.ts'
import type { AccountOptions, Accounts } from './accounts.ts'

/** Stores the accounts of requests, and ends requests in flight whose account is paused. The code is loaded with the first account. */
export interface AccountsFeature extends Feature {
  accounts(): Promise<Accounts>
  findKeyAccount(key: ClientKey): Promise<CallerAccount>
}

interface AccountsDependencies {
  store: Pick<Store, 'storage' | 'keyring' | 'freshness' | 'groups' | 'groupCache' | 'isWatched'>
  clock: Clock
  options?: AccountOptions | undefined
  inFlight: InFlight
  maxAgeMs: number
  onError(error: unknown): void
}

export function createAccountsFeature({
  store,
  clock,
  options,
  inFlight,
  maxAgeMs,
  onError,
}: AccountsDependencies): AccountsFeature {
  let isClosed = false
  let cancelLook: CancelDeadline | undefined

  const accounts = once(async () => {
    const { createAccounts } = await import('./accounts.ts')
    const created = createAccounts({ store, clock, options, onError })
    created.onChange((ref) => void check(created, (account) => account.ref === ref))
    store.groupCache.onChange((id) => void check(created, (account) => account.plan?.id === id))
    return created
  })

  /** Ends the requests in flight of some accounts that are paused by now. While the storage can't be read, they continue. */
  async function check(opened: Accounts, isMeant: (account: AccountInFlight) => boolean): Promise<void> {
    const found = new Map<string, AccountInFlight>()
    for (const { caller } of inFlight.values())
      if (caller.account && isMeant(caller.account)) found.set(caller.account.ref, caller.account)
    await Promise.all(
      Array.from(found.values(), async ({ ref, plan }) => {
        const rejection = await opened.findRejection(ref, plan?.id).catch(() => undefined)
        if (!rejection) return
        for (const work of inFlight.values()) if (work.caller.account?.ref === ref) work.cancel(rejection)
      }),
    )
  }

  function lookLater(): void {
    cancelLook ??= startDeadline(clock, maxAgeMs, () => {
      cancelLook = undefined
      if (isClosed || !inFlight.values().some(({ caller }) => caller.account)) return
      void accounts().then((opened) => check(opened, () => true))
      lookLater()
    })
  }

  const events: RequestListener = {
    attempting(_: AttemptLog, { client: { caller } }) {
      return caller.account && accounts().then((opened) => caller.account && opened.markSeen(caller.account))
    },
  }

  return {
    name: 'accounts',
    accounts,
    findKeyAccount: async (key) => (settledValue(accounts()) ?? (await accounts())).getKeyAccount(key),
    events,
    ...(!store.isWatched && {
      aroundRequest({ caller }: RouteRequest, next: () => Promise<Reply>) {
        if (caller.account && !isClosed) lookLater()
        return next()
      },
    }),
    close() {
      isClosed = true
      cancelLook?.()
    },
  }
}

type AccountInFlight = NonNullable<ReturnType<InFlight['values']>[number]['caller']['account']>
