import { withWarnings } from '../../../admin/warnings.ts'
import { didYouMean, findNearest } from '../../../lib/spelling.ts'
import type { AccountNames } from '../../../records/account-records.ts'
import { listKnownNames } from '../../../request/routing/known-names.ts'
import type { RouteTable } from '../../../request/routing/route-table.ts'
import type { Catalog } from '../../../types.ts'
import type { UsageOperations } from './usage-operations.ts'

/** Filters that may refer to something that doesn't exist. */
interface NameFilters {
  keyId?: string
  groupId?: string
  account?: string
  model?: string
  provider?: string
  target?: string
  connectionId?: string
}

interface NameSources {
  store: { keys: NamedRecords; groups: NamedRecords; connections: { all(): Promise<readonly ConnectionNames[]> } }
  catalog: Catalog
  accounts: AccountNames
  routes(): Promise<RouteTable>
}

interface NamedRecords {
  all(): Promise<ReadonlyArray<{ id: string; name: string }>>
}

interface ConnectionNames {
  id: string
  name?: string
  provider: string
}

type FilteredUsageOperations = Omit<UsageOperations<unknown>, 'keys'>

/** Adds a warning to an empty result if a filter refers to something that doesn't exist. Deleted records may still have usage. */
export const addFilterWarnings = (usage: FilteredUsageOperations, sources: NameSources): FilteredUsageOperations => ({
  ...usage,
  async summary(query = {}) {
    const summary = await usage.summary(query)
    if (summary.totals.requests > 0) return summary
    return withWarnings(summary, [...(summary.warnings ?? []), ...(await listFilterWarnings(query, sources))])
  },
  async requests(query = {}) {
    const page = await usage.requests(query)
    if (page.requests.length > 0 || page.before !== undefined) return page
    return withWarnings(page, await listFilterWarnings(query, sources))
  },
})

/** Returns a warning for each filter that refers to something that doesn't exist. Never rejects, because the usage has already been read. */
async function listFilterWarnings(query: unknown, sources: NameSources): Promise<string[]> {
  const { keyId, groupId, account, model, provider, target, connectionId } = query as NameFilters // the operation has validated the query
  const { store, catalog, accounts } = sources
  const targetProvider = target?.slice(0, target.indexOf('/'))
  const listConnections = () => store.connections.all()
  const listProviders = async () => [
    ...Object.keys(catalog),
    ...(await listConnections()).map((connection) => connection.provider),
  ]
  const warnings = await Promise.all([
    checkRecord('key', keyId, () => store.keys.all()),
    checkRecord('group', groupId, () => store.groups.all()),
    checkAccount(account, accounts),
    checkRecord('connection', connectionId, listConnections),
    checkProvider(provider, listProviders),
    checkProvider(targetProvider, listProviders),
    checkModel(model, sources),
  ]).catch(() => [])
  return warnings.flatMap((warning) => warning ?? [])
}

async function checkRecord(
  noun: string,
  id: string | undefined,
  listRecords: () => Promise<ReadonlyArray<{ id: string; name?: string }>>,
) {
  if (!id) return undefined
  const records = await listRecords()
  if (records.some((record) => record.id === id)) return undefined
  const namedRecord = records.find(({ name }) => name === id)
  if (namedRecord)
    return `There is no ${noun} with the ID "${id}". The ${noun} with this name has the ID "${namedRecord.id}".`
  const hint =
    didYouMean(
      findNearest(
        id,
        records.map((record) => record.id),
        1,
      ),
    ) ?? getNameHint(id, records)
  return `There is no ${noun} with the ID "${id}".${hint ? ` ${hint}` : ''}`
}

async function checkAccount(idOrRef: string | undefined, accounts: AccountNames) {
  if (!idOrRef) return undefined
  const names = await accounts.findNames([await accounts.findRef(idOrRef)])
  return names.size > 0 ? undefined : `There is no account with the ID or ref "${idOrRef}".`
}

function getNameHint(id: string, records: ReadonlyArray<{ id: string; name?: string }>): string | undefined {
  const [nearestName] = findNearest(
    id,
    records.map(({ name = '' }) => name),
    1,
  )
  const nearestRecord = nearestName ? records.find(({ name }) => name === nearestName) : undefined
  return nearestRecord && `Did you mean "${nearestRecord.id}", which is named "${nearestName}"?`
}

async function checkProvider(name: string | undefined, listProviders: () => Promise<readonly string[]>) {
  if (!name) return undefined
  const providers = await listProviders()
  if (providers.includes(name)) return undefined
  const hint = didYouMean(findNearest(name, providers, 1))
  return `There is no provider "${name}".${hint ? ` ${hint}` : ''}`
}

async function checkModel(model: string | undefined, { routes }: NameSources) {
  if (!model) return undefined
  const table = await routes()
  if (table.findCombo(model)) return undefined
  const names = await listKnownNames(table)
  if (names.includes(model)) return undefined
  const hint = didYouMean(findNearest(model, names, 1))
  return table.resolveModel(model) && !hint ? undefined : `There is no model "${model}".${hint ? ` ${hint}` : ''}`
}
