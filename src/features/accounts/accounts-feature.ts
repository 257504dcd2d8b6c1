import type { Feature } from '../../feature.ts'
import type { Reply } from '../../lib/exchange.ts'
import { once, settledValue } from '../../lib/promises.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { AttemptLog } from '../../request/attempt-log.ts'
import type { CallerAccount } from '../../request/caller.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { Accounts } from './accounts.ts'
import type { OpenAccounts, OpenDependencies } from './open-accounts.ts'

/** Stores the accounts of requests, and ends requests in flight whose account is paused. The code is loaded with the first account. */
export interface AccountsFeature extends Feature {
  accounts(): Promise<Accounts>
  findKeyAccount(key: ClientKey): Promise<CallerAccount>
}

export function createAccountsFeature(dependencies: OpenDependencies): AccountsFeature {
  let opened: OpenAccounts | undefined
  let isClosed = false

  const accounts = once(async () => {
    const { openAccounts } = await import('./open-accounts.ts')
    opened = openAccounts(dependencies)
    return opened
  })

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
    ...(!dependencies.store.isWatched && {
      aroundRequest({ caller }: RouteRequest, next: () => Promise<Reply>) {
        if (caller.account && !isClosed) void accounts().then(({ lookLater }) => lookLater())
        return next()
      },
    }),
    close() {
      isClosed = true
      opened?.close()
    },
  }
}
