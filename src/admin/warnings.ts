import { findMissingProviders } from '../request/routing/known-names.ts'
import { completeName, type RouteTable } from '../request/routing/route-table.ts'
import type { Kind, Storage, UsageLimits } from '../types.ts'

/** The answer to a change that was made, with sentences on what keeps it from working yet. */
export interface Warned {
  /** Absent when there are none. */
  warnings?: string[]
}

/** The answer with its warnings, if there are any. */
export const withWarnings = <T extends object>(answer: T, warnings: readonly string[]): T & Warned =>
  warnings.length > 0 ? { ...answer, warnings: [...warnings] } : answer

/** What keeps the limits of a key or a group from being exact, a sentence each. */
export const limitWarnings = ({ limits }: { limits?: UsageLimits }, { atomic }: Pick<Storage, 'atomic'>): string[] =>
  limits && !atomic ? [NOT_ATOMIC] : []

const NOT_ATOMIC =
  "This gateway's storage is not atomic, so gateways that share it can together exceed a limit. Use it from only one gateway, or use an atomic storage."

/** Does a model name lead to a connection, through aliases and combos? */
function leadsSomewhere(model: string, table: RouteTable): boolean {
  const seen = new Set<string>()
  const open = [model]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const combo = table.findCombo(name)
    if (!combo && table.resolveModel(name)) return true
    if (!combo || seen.has(combo.name)) continue
    seen.add(combo.name)
    for (const entry of combo.entries) open.push(entry.name)
  }
  return false
}

/** Why a model name leads nowhere yet, as the rest of a sentence; `undefined` when it leads to a connection. */
export function whyNowhere(model: string, table: RouteTable): string | undefined {
  if (leadsSomewhere(model, table)) return undefined
  const combo = table.findCombo(model)
  if (combo?.entries.length === 0) return `the combo "${combo.name}" has no models`
  const [provider] = findMissingProviders(model, table)
  if (provider !== undefined) return `there is no active connection to "${provider}"`
  return combo ? `no model of the combo "${combo.name}" has a connection` : 'no model, combo, or alias has this name'
}

/** What keeps the models of a combo from being reached, a sentence each. */
export function comboWarnings(models: readonly string[], kind: Kind | undefined, table: RouteTable): string[] {
  if (models.length === 0) return ['The combo has no models, so requests for it fail with a 404.']
  const names = [...new Set(models)]
  const taken = { has: (name: string) => table.combos.has(name) || table.aliases.has(name) }
  const dead = names.flatMap((model) => {
    const why = whyNowhere(completeName(model, { kind }, taken), table)
    return why === undefined ? [] : [`"${model}" doesn't resolve yet: ${why}.`]
  })
  return [
    ...(dead.length === names.length
      ? ['No model in this combo resolves yet, so requests for it fail with a 404.']
      : []),
    ...dead.slice(0, MAX_NAMED),
    ...(dead.length > MAX_NAMED ? [`${dead.length - MAX_NAMED} more of its models don't resolve yet.`] : []),
  ]
}

/** In models of one combo. */
const MAX_NAMED = 10
