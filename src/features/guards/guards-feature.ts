import { isObject } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import type { Store } from '../../records/store.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import type { CallStep, ServedRequest } from '../../request/steps.ts'
import type { Guard } from './guard.ts'
import type { GuardServices } from './guarded-call.ts'

/** Returns the guards in code that are functions, from an array or an object by name. Throws a TypeError for guards that can't work. */
export function listCodeGuards(given: unknown = []): readonly Guard[] {
  const guards = Object.entries(Object(given)).filter(([, one]) => Array.isArray(given) || isGuard(one)) as Array<
    [string, Guard]
  >
  for (const [at, [place, { name, check }]] of guards.entries()) {
    const isNamed = typeof name === 'string' && /^[\w.-]{1,64}$/.test(name)
    if (!isNamed || guards.findIndex(([, guard]) => guard.name === name) < at)
      throw new TypeError(`guards[${place}] needs its own "name" of letters, digits, "-", "_", and ".".`)
    if (typeof check !== 'function') throw new TypeError(`guards[${place}] needs a function "check".`)
  }
  return guards.map(([, guard]) => guard)
}

/** Whether a guard in code is a function, and not a record. */
export const isGuard = (one: unknown): one is Guard => isObject(one) && typeof one.check === 'function'

/** Creates the function that adds guards to the steps around a model call, if the request may have any. Their code is loaded with the first of them. */
export function createGuarding(inCode: readonly Guard[], deps: GuardServices & { store: Store }) {
  const load = once(async () => (await import('./select-guards.ts')).createSelectedGuards(inCode, deps))
  const step: CallStep = async (call, next) => (await load())(call, next)

  return ({ exchange, settings, table }: ModelRequest, { caller }: ServedRequest, steps: readonly CallStep[]) => {
    const { key, account } = caller
    const names = settings.guards ?? key?.guards ?? key?.group?.guards ?? account?.plan?.guards
    const hasGuards = inCode.length > 0 || names || table.hasGuards || exchange.header('x-signalbox-guards')
    return hasGuards ? [step, ...steps, step] : steps // again at the end, because a step may have chosen another combo
  }
}
