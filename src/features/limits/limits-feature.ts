import type { BuiltInFeature } from '../../feature.ts'
import type { CancelDeadline } from '../../lib/deadline.ts'
import type { Reply } from '../../lib/exchange.ts'
import { getSettledValue, once } from '../../lib/promises.ts'
import type { Store } from '../../records/store.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { Caller, CallerAccount } from '../../request/caller.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { RejectionPreview, RequestStep } from '../../request/steps.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import type { UsageStore } from '../usage/usage.ts'
import { accountRoutes } from './account-routes.ts'
import type { Gate } from './gate.ts'
import type { Ledger } from './ledger/ledger.ts'

interface LimitsDependencies {
  store: Pick<Store, 'settings' | 'storage'>
  clock: Clock
  catalog: Catalog
  logger: Logger
  usage: UsageStore | undefined
  random(): number
  startTimer(ms: number, onExpire: () => void): CancelDeadline
  nextTurn(): Promise<void>
  onError(error: unknown): void
}

/**
 * Enforces the limits of a request's key, its group, its account, its plan, its token, and the gateway. Requests without limits pass immediately; the
 * code loads on the first request with limits.
 */
export interface LimitsFeature extends BuiltInFeature {
  aroundRequest: RequestStep
  ledger(): Promise<Ledger>
  /** Prefetches the counters for an account and its plan if they have limits and aren't in memory. Never throws. */
  prepareAccount(account: Pick<CallerAccount, 'ref' | 'limits' | 'plan'>): void
  /** Previews why a request from this caller would be rejected, without sending it. */
  preview(caller: Caller): Promise<RejectionPreview>
}

export function createLimitsFeature(deps: LimitsDependencies): LimitsFeature {
  const { store, clock, catalog, logger, usage, random, startTimer, nextTurn, onError } = deps
  const { read: readSettings } = store.settings
  let openLedger: Ledger | undefined
  const ledger = once(async () => {
    const { createLedger } = await import('./ledger/ledger.ts')
    openLedger = createLedger({ storage: store.storage, clock, random, startTimer, nextTurn, onError })
    return openLedger
  })
  const gate = once(async (): Promise<Gate> => {
    const [{ createGate }, opened] = await Promise.all([import('./gate.ts'), ledger()])
    return createGate({ ledger: opened, clock, catalog, logger })
  })

  let openGate: Gate | undefined
  async function enforce(
    request: RouteRequest,
    settingsPromise: Promise<StoredSettings>,
    next: () => Promise<Reply>,
  ): Promise<Reply> {
    const { hasTimeout, scope } = request.log.client
    const settings =
      getSettledValue(settingsPromise) ?? (await (hasTimeout ? scope.race(settingsPromise) : settingsPromise))
    if (!hasLimits(request.caller, settings)) return next()
    openGate ??= await scope.race(gate())
    return openGate.aroundRequest(request, settings, next)
  }

  return {
    name: 'limits',
    aroundRequest(request, next) {
      const settingsPromise = readSettings()
      const settings = getSettledValue(settingsPromise)
      return settings && !hasLimits(request.caller, settings) ? next() : enforce(request, settingsPromise, next)
    },
    ledger,
    prepareAccount(account) {
      if ((account.limits ?? account.plan?.limits) === undefined) return
      void gate().then(
        (openedGate) => openedGate.prepare({ key: undefined, account }),
        () => {}, // the request loads it again and reports the failure
      )
    },
    async preview(caller) {
      const [opened, settings] = await Promise.all([gate(), readSettings()])
      return opened.preview(caller, settings)
    },
    routes: accountRoutes(async () => {
      const loading = import('./account-reader.ts')
      const [{ createAccountReaders }, opened, settings] = await Promise.all([loading, ledger(), readSettings()])
      return createAccountReaders({ ledger: opened, settings, clock, usage })
    }),
    close: async () => openLedger?.close(),
  }
}

function hasLimits({ key, account, token }: Caller, settings: StoredSettings): boolean {
  if ((settings.limits ?? key?.limits ?? key?.group?.limits) !== undefined) return true
  return (account?.limits ?? account?.plan?.limits ?? token?.limits) !== undefined
}
