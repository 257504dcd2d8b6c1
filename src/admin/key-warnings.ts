import { didYouMean, findNearest } from '../lib/spelling.ts'
import { listKnownNames } from '../request/routing/known-names.ts'
import type { RouteTable } from '../request/routing/route-table.ts'
import { matchesPattern } from '../request/routing/routing-facts.ts'
import type { Clock, Storage, UsageLimits } from '../types.ts'
import { explainUnresolved, listLimitWarnings } from './warnings.ts'

/** The fields of a key or group that may keep it from working as intended. */
interface RestrictedRecord {
  limits?: UsageLimits
  models?: readonly string[]
  expiresAt?: string
}

/** The data that warnings about keys need. */
export interface KeyWarningSources {
  store: { storage: Pick<Storage, 'atomic'> }
  routes(): Promise<RouteTable>
  clock: Clock
}

/** Warns about everything that keeps a key or group from working as intended. Never rejects, because the record has already been written. */
export async function listKeyWarnings(
  record: RestrictedRecord,
  { store, routes, clock }: KeyWarningSources,
): Promise<string[]> {
  const { models, expiresAt } = record
  return [
    ...listLimitWarnings(record, store.storage),
    ...(expiresAt !== undefined && Date.parse(expiresAt) <= clock.now()
      ? [`The key expired at ${expiresAt}, so requests with it fail with a 401.`]
      : []),
    ...(models
      ? await routes()
          .then((table) => listModelWarnings(models, table))
          .catch(() => [])
      : []),
  ]
}

async function listModelWarnings(models: readonly string[], table: RouteTable): Promise<string[]> {
  const unresolved = models.flatMap((model) => {
    const reason = model.includes('*') ? explainNoMatch(model, table) : explainUnresolved(model, table)
    return reason === undefined ? [] : [{ model, why: reason }]
  })
  const names = unresolved.length > 0 ? await listKnownNames(table) : []
  return [
    ...unresolved.slice(0, MAX_LISTED_MODELS).map(({ model, why }) => {
      const hint = didYouMean(findNearest(model, names, 1))
      return `"${model}" in "models" doesn't resolve yet: ${why}.${hint ? ` ${hint}` : ''}`
    }),
    ...(unresolved.length > MAX_LISTED_MODELS
      ? [`${unresolved.length - MAX_LISTED_MODELS} more of its models don't resolve yet.`]
      : []),
  ]
}

const MAX_LISTED_MODELS = 10

/** Explains why no request can match a pattern with `*`. Providers have unlisted models, so any name under a provider's prefix can match. */
function explainNoMatch(pattern: string, table: RouteTable): string | undefined {
  const prefix = pattern.slice(0, pattern.indexOf('*'))
  const canMatch = (name: string) => name.startsWith(prefix) || prefix.startsWith(name)
  const matchesProvider = [...table.namedConnections.keys()].some((name) => canMatch(`${name}/`))
  if (
    matchesProvider ||
    [...table.combos.keys(), ...table.aliases.keys()].some((name) => matchesPattern(name, pattern))
  )
    return undefined
  return explainUnresolved(pattern, table)
}
