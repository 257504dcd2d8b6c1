import { isObject } from '../../lib/json.ts'
import { type Background, once } from '../../lib/promises.ts'
import type { CodeRecords } from '../../records/code-records.ts'
import { GUARDS } from '../../records/record-collections.ts'
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

const hasGuardRecords = ({ values }: CodeRecords) => [...values.keys()].some((key) => key.startsWith(GUARDS))

const listCodeProblems = async (records: CodeRecords) => (await import('./guard-problem.ts')).findCodeProblems(records)

/** Rejects with a TypeError if a guard that is defined in code as a record can't be used. */
export async function checkGuardRecords(records: CodeRecords): Promise<void> {
  const [problem] = hasGuardRecords(records) ? await listCodeProblems(records) : []
  if (problem) throw problem
}

/** Creates the function that adds guards to the steps around a model call, if the request may have any. Their code is loaded with the first of them. */
export function createGuarding(
  inCode: readonly Guard[],
  deps: GuardServices & { store: Store; background: Pick<Background, 'run'> },
) {
  const { store, background, onError } = deps
  if (hasGuardRecords(store.code.records))
    background.run(listCodeProblems(store.code.records).then((problems) => problems.forEach(onError)))
  const load = once(async () => (await import('./select-guards.ts')).createSelectedGuards(inCode, deps))
  const step: CallStep = async (call, next) => (await load())(call, next)

  return ({ exchange, settings, table }: ModelRequest, { caller }: ServedRequest, steps: readonly CallStep[]) => {
    const { key, account } = caller
    const names = settings.guards ?? key?.guards ?? key?.group?.guards ?? account?.plan?.guards
    const hasGuards = inCode.length > 0 || names || table.hasGuards || exchange.header('x-signalbox-guards')
    return hasGuards ? [step, ...steps, step] : steps // again at the end, because a step may have chosen another combo
  }
}
