import type { BuiltInFeature } from '../../feature.ts'
import type { Reply } from '../../lib/exchange.ts'
import { getSettledValue, once } from '../../lib/promises.ts'
import type { AttemptLog } from '../../request/attempt-log.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { CallChange } from '../../request/steps.ts'
import type { Accounts } from './accounts.ts'
import type { OpenAccounts, OpenAccountsDependencies } from './open-accounts.ts'

/** Stores the accounts that make requests and ends in-flight requests of paused accounts. Its code loads with the first account. */
export interface AccountsFeature extends BuiltInFeature {
  accounts(): Promise<Accounts>
  findKeyAccount: Accounts['getKeyAccount']
}

export function createAccountsFeature(dependencies: OpenAccountsDependencies): AccountsFeature {
  let loadedAccounts: OpenAccounts | undefined
  let isClosed = false

  const accounts = once(async () => {
    const { openAccounts } = await import('./open-accounts.ts')
    loadedAccounts = openAccounts(dependencies)
    return loadedAccounts
  })

  const events: RequestListener = {
    attempting(_: AttemptLog, { client: { caller } }) {
      return (
        caller.account && accounts().then((openedAccounts) => caller.account && openedAccounts.markSeen(caller.account))
      )
    },
  }

  return {
    name: 'accounts',
    accounts,
    findKeyAccount: async (key, requestedAccount) =>
      (getSettledValue(accounts()) ?? (await accounts())).getKeyAccount(key, requestedAccount),
    events,
    ...(!dependencies.store.isWatched && {
      aroundRequest({ caller }: RouteRequest, next: () => Promise<Reply>) {
        if (caller.account && !isClosed) void accounts().then(({ scheduleCheck }) => scheduleCheck())
        return next()
      },
    }),
    ...(dependencies.options?.forwardRef && {
      async aroundCall(call: CallRequest, next: (change?: CallChange) => Promise<Reply>) {
        if (!call.account) return next()
        const { replaceEndUser } = await import('./open-accounts.ts')
        return next(replaceEndUser(call, call.account))
      },
    }),
    close() {
      isClosed = true
      loadedAccounts?.close()
    },
  }
}
