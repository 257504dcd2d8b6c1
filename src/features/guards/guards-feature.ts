import type { BuiltInFeature } from '../../feature.ts'
import { isObject } from '../../lib/json.ts'
import { type Background, once } from '../../lib/promises.ts'
import type { CodeRecords } from '../../records/code-records.ts'
import { GUARDS_PREFIX } from '../../records/record-collections.ts'
import type { Store } from '../../records/store.ts'
import type { Guard } from './guard.ts'
import type { GuardServices } from './guarded-call.ts'

/**
 * Lists the guards that are defined in code as functions. They are configured as an array or as an object keyed by name. Throws a TypeError for
 * invalid guards.
 */
export function listCodeGuards(configured: unknown = []): readonly Guard[] {
  const guards = Object.entries(Object(configured)).filter(
    ([, guard]) => Array.isArray(configured) || isGuard(guard),
  ) as Array<[string, Guard]>
  for (const [index, [guardKey, { name, check }]] of guards.entries()) {
    const hasValidName = typeof name === 'string' && /^[\w.-]{1,64}$/.test(name)
    if (!hasValidName || guards.findIndex(([, guard]) => guard.name === name) < index)
      throw new TypeError(`guards[${guardKey}] needs its own "name" of letters, digits, "-", "_", and ".".`)
    if (typeof check !== 'function') throw new TypeError(`guards[${guardKey}] needs a function "check".`)
  }
  return guards.map(([, guard]) => guard)
}

/** Returns whether a guard in code has a `check` function, as opposed to being a record. */
export const isGuard = (value: unknown): value is Guard => isObject(value) && typeof value.check === 'function'

const hasGuardRecords = ({ values }: CodeRecords) => [...values.keys()].some((key) => key.startsWith(GUARDS_PREFIX))

const listCodeProblems = async (records: CodeRecords) =>
  (await import('./guard-problem.ts')).findCodeGuardProblems(records)

/** Rejects with a TypeError if a guard that is defined in code as a record can't be used. */
export async function checkGuardRecords(records: CodeRecords): Promise<void> {
  const [problem] = hasGuardRecords(records) ? await listCodeProblems(records) : []
  if (problem) throw problem
}

/** Creates the feature that runs guards on model calls. Its code loads on the first request that may have guards. */
export function createGuards(
  codeGuards: readonly Guard[],
  deps: GuardServices & { store: Store; background: Pick<Background, 'run'> },
): BuiltInFeature {
  const { store, background, onError } = deps
  if (hasGuardRecords(store.code.records))
    background.run(listCodeProblems(store.code.records).then((problems) => problems.forEach(onError)))
  const load = once(async () => (await import('./select-guards.ts')).createSelectedGuards(codeGuards, deps))
  return {
    name: 'guards',
    appliesToCall({ exchange, settings, table, log }) {
      const { key, account } = log.caller
      const names = settings.guards ?? key?.guards ?? key?.group?.guards ?? account?.plan?.guards
      return codeGuards.length > 0 || !!names || table.hasGuards || exchange.header('x-signalbox-guards') !== undefined
    },
    aroundCall: async (call, next) => (await load())(call, next),
  }
}
