import { missingProviders } from '../routing/known-names.ts'
import { type RouteTable, wholeName } from '../routing/route-table.ts'
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
  'The storage of this gateway is not atomic: gateways that share it may together exceed a limit. Use it from one gateway alone, or use a storage that is atomic.'

/** Does a model name lead to a connection, through aliases and combos? */
function leadsSomewhere(model: string, table: RouteTable): boolean {
  const seen = new Set<string>()
  const open = [model]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const combo = table.comboOf(name)
    if (!combo && table.resolutionOf(name)) return true
    if (!combo || seen.has(combo.name)) continue
    seen.add(combo.name)
    for (const entry of combo.entries) open.push(entry.name)
  }
  return false
}

/** Why a model name leads nowhere yet, as the rest of a sentence; `undefined` when it leads to a connection. */
export function whyNowhere(model: string, table: RouteTable): string | undefined {
  if (leadsSomewhere(model, table)) return undefined
  const combo = table.comboOf(model)
  if (combo?.entries.length === 0) return `the combo "${combo.name}" has no models`
  const [provider] = missingProviders(model, table)
  if (provider !== undefined) return `no active connection to "${provider}"`
  return combo ? `no model of the combo "${combo.name}" has a connection` : 'no model, combo or alias has this name'
}

/** What keeps the models of a combo from being reached, a sentence each. */
export function comboWarnings(models: readonly string[], kind: Kind | undefined, table: RouteTable): string[] {
  if (models.length === 0) return ['The combo has no models: requests for it get a 404.']
  const names = [...new Set(models)]
  const taken = { has: (name: string) => table.combos.has(name) || table.aliases.has(name) }
  const dead = names.flatMap((model) => {
    const why = whyNowhere(wholeName(model, { kind }, taken), table)
    return why === undefined ? [] : [`"${model}" leads nowhere yet: ${why}.`]
  })
  return [
    ...(dead.length === names.length ? ['The combo leads nowhere yet: requests for it get a 404.'] : []),
    ...dead.slice(0, MAX_NAMED),
    ...(dead.length > MAX_NAMED ? [`${dead.length - MAX_NAMED} more of its models lead nowhere yet.`] : []),
  ]
}

/** In models of one combo. */
const MAX_NAMED = 10
