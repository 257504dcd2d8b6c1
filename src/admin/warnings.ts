import { findMissingProviders } from '../request/routing/known-names.ts'
import { completeName, type RouteTable } from '../request/routing/route-table.ts'
import type { Kind, Storage, UsageLimits } from '../types.ts'

/** The result of a change, with warnings about anything that keeps it from working yet. */
export interface WithWarnings {
  /** Absent if there are none. */
  warnings?: string[]
}

/** Adds warnings to a result, if there are any. */
export const withWarnings = <T extends object>(response: T, warnings: readonly string[]): T & WithWarnings =>
  warnings.length > 0 ? { ...response, warnings: [...warnings] } : response

/** Warns about anything that keeps a key's or group's limits from being exact. */
export const listLimitWarnings = (
  { limits }: { limits?: UsageLimits },
  { atomic }: Pick<Storage, 'atomic'>,
): string[] => (limits && !atomic ? [NOT_ATOMIC_WARNING] : [])

const NOT_ATOMIC_WARNING =
  "This gateway's storage is not atomic, so gateways that share it can together exceed a limit. Use it from only one gateway, or use an atomic storage."

/** Returns whether a model name resolves to a connection, directly or through aliases and combos. */
function resolvesToConnection(model: string, table: RouteTable): boolean {
  const visitedNames = new Set<string>()
  const pendingNames = [model]
  for (let name = pendingNames.pop(); name !== undefined; name = pendingNames.pop()) {
    const combo = table.findCombo(name)
    if (!combo && table.resolveModel(name)) return true
    if (!combo || visitedNames.has(combo.name)) continue
    visitedNames.add(combo.name)
    for (const entry of combo.entries) pendingNames.push(entry.name)
  }
  return false
}

/** Explains why a model name doesn't resolve yet, as a clause. Returns `undefined` if it resolves. */
export function explainUnresolved(model: string, table: RouteTable): string | undefined {
  if (resolvesToConnection(model, table)) return undefined
  const combo = table.findCombo(model)
  if (combo?.entries.length === 0) return `the combo "${combo.name}" has no models`
  const [provider] = findMissingProviders(model, table)
  if (provider !== undefined) return `there is no active connection to "${provider}"`
  return combo ? `no model of the combo "${combo.name}" has a connection` : 'no model, combo, or alias has this name'
}

/** Warns about a combo's models that don't resolve. */
export function listComboWarnings(models: readonly string[], kind: Kind | undefined, table: RouteTable): string[] {
  if (models.length === 0) return ['The combo has no models, so requests for it fail with a 404.']
  const names = [...new Set(models)]
  const takenNames = { has: (name: string) => table.combos.has(name) || table.aliases.has(name) }
  const unresolved = names.flatMap((model) => {
    const reason = explainUnresolved(completeName(model, { kind }, takenNames), table)
    return reason === undefined ? [] : [`"${model}" doesn't resolve yet: ${reason}.`]
  })
  return [
    ...(unresolved.length === names.length
      ? ['No model in this combo resolves yet, so requests for it fail with a 404.']
      : []),
    ...unresolved.slice(0, MAX_LISTED_MODELS),
    ...(unresolved.length > MAX_LISTED_MODELS
      ? [`${unresolved.length - MAX_LISTED_MODELS} more of its models don't resolve yet.`]
      : []),
  ]
}

const MAX_LISTED_MODELS = 10
