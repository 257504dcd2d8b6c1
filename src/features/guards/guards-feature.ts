import type { Feature } from '../../feature.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { CallStep } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import type { Guard } from './guard.ts'

/** Throws a TypeError for guards that can't work. */
export function checkGuards(guards: readonly Guard[] = []): void {
  for (const [at, { name, check }] of guards.entries()) {
    const isNamed = typeof name === 'string' && /^[\w.-]{1,64}$/.test(name)
    if (!isNamed || guards.findIndex((guard) => guard.name === name) < at)
      throw new TypeError(`guards[${at}] needs its own "name" of letters, digits, "-", "_", and ".".`)
    if (typeof check !== 'function') throw new TypeError(`guards[${at}] needs a function "check".`)
  }
}

interface GuardServices {
  clock: Clock
  basePath: string
  /** Handles a request that the gateway sends to itself. */
  serve(exchange: Exchange): Promise<Reply | undefined>
  onError(error: unknown): void
}

/** Checks the content of requests and responses. */
export interface GuardsFeature extends Feature {
  aroundCall: CallStep
}

/** Creates the feature. Its code is loaded with the first request. */
export function createGuards(guards: readonly Guard[], deps: GuardServices): GuardsFeature {
  const load = once(() => import('./guarded-call.ts'))
  return {
    name: 'guards',
    aroundCall: async (call, next) => (await load()).guardCall(call, next, { guards, ...deps }),
  }
}
