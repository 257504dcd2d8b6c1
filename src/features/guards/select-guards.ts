import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { Store } from '../../records/store.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import type { ModelRequest } from '../../request/model-request.ts'
import type { CallChange } from '../../request/steps.ts'
import type { Guard } from './guard.ts'
import { GuardTally } from './guard-tally.ts'
import { type GuardServices, guardCall } from './guarded-call.ts'
import { NamedGuards } from './named-guards.ts'

/** Finds each request's guards and runs them. */
export function createSelectedGuards(
  codeGuards: readonly Guard[],
  { store, ...deps }: GuardServices & { store: Store },
) {
  const namedGuards = new NamedGuards(store)
  const codeNames = new Set(codeGuards.map(({ name }) => name))
  const selections = new WeakMap<object, { names: Set<string>; tally: GuardTally }>() // by request log

  /** Returns the guards that haven't checked the request yet: first those defined in code, then the named guards in the order of `listGuardNames`. */
  async function selectGuards(call: CallRequest): Promise<{ guards: Guard[]; tally: GuardTally }> {
    const previousSelection = selections.get(call.log)
    const { names: checkedNames, tally } = previousSelection ?? { names: new Set<string>(), tally: new GuardTally() }
    if (!previousSelection) {
      selections.set(call.log, { names: checkedNames, tally })
      call.log.extendRecord(() => tally.toRecord())
    }
    const requestedNames = previousSelection ? [] : parseNames(call.header(GUARDS_HEADER))
    const names = new Set(
      [...listGuardNames(call), ...requestedNames].filter((name) => !codeNames.has(name) && !checkedNames.has(name)),
    )
    for (const name of names) checkedNames.add(name)
    const remainingCodeGuards = previousSelection ? [] : codeGuards
    if (names.size === 0) return { guards: [...remainingCodeGuards], tally }
    const guardsByName = await call.log.client.scope.race(namedGuards.find(names))
    const selectedGuards = [...names].map((name) => {
      const guard = guardsByName.get(name)
      if (guard && 'guard' in guard) return guard.guard
      if (!guard && requestedNames.includes(name)) throw createUnknownGuardError(name)
      throw createUnavailableGuardError(name, guard?.problem)
    })
    return { guards: [...remainingCodeGuards, ...selectedGuards], tally }
  }

  return async (call: CallRequest, next: (change?: CallChange) => Promise<Reply>): Promise<Reply> => {
    const { actsAs } = call.exchange
    if (actsAs && actsAs.keyDigest === undefined) return next() // the operator's own test calls aren't guarded
    const { guards, tally } = await selectGuards(call)
    return guards.length === 0 ? next() : guardCall(call, next, { ...deps, guards, tally })
  }
}

const GUARDS_HEADER = 'x-signalbox-guards'

/**
 * Lists the names of the guards in the settings, the groups, the key, and the combos that the request can reach, in that order. Omits those in a
 * key's `guardsExcept`.
 */
function listGuardNames({ caller, request }: Pick<CallRequest, 'caller' | 'request'>): string[] {
  const { key, account } = caller
  const { guards: settingsGuards = [] } = request.settings
  const nameLists = [settingsGuards, account?.plan?.guards, key?.group?.guards, key?.guards, listComboGuards(request)]
  const excluded = new Set(key?.guardsExcept)
  return nameLists.flatMap((names) => names ?? []).filter((name) => !excluded.has(name))
}

/** Lists the guards for all combos that the request can reach, directly or through aliases and nested combos. */
function listComboGuards({ call, list, table }: Pick<ModelRequest, 'call' | 'list' | 'table'>): string[] {
  const guardNames: string[] = [...(list?.guards ?? [])] // a model list can have guards, like a combo
  const visitedNames = new Set<string>()
  const queue = [call.model, ...(list?.entries.map(({ name }) => name) ?? [])].reverse()
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (visitedNames.has(name)) continue
    visitedNames.add(name)
    const combo = table.combos.get(name)
    const alias = table.aliases.get(name)
    guardNames.push(...(combo?.guards ?? []))
    if (combo) queue.push(...combo.entries.map((entry) => entry.name).reverse())
    else if (alias !== undefined) queue.push(alias)
  }
  return guardNames
}

const parseNames = (text = ''): string[] => text.split(',').flatMap((name) => name.trim() || [])

const createUnknownGuardError = (name: string): GatewayError =>
  gatewayError('INVALID_REQUEST', {
    message: `The header "${GUARDS_HEADER}" names a guard that this gateway doesn't have: ${JSON.stringify(name.slice(0, 64))}. Remove it, or use the name of an existing guard.`,
    data: { param: GUARDS_HEADER },
  })

const createUnavailableGuardError = (name: string, cause: unknown): GatewayError =>
  gatewayError('GUARD_UNAVAILABLE', {
    message: `This request needs the guard "${name}", which is not available. Ask the operator of this gateway to create or repair it.`,
    cause,
  })
