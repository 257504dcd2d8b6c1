import { compatibleFormat } from '../providers/compatible.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { CatalogProvider } from '../types.ts'

/** Asks a connection's upstream for its model ids; resolves to an empty list on any failure. */
export type LookUp = (connection: ConnectionRecord) => Promise<string[]>

/** The answers of upstreams that have been asked, or are being asked, by the id of the connection. */
export type Asked = Map<string, Promise<string[]>>

/**
 * The ids that a connection starts from: its enabled models, else the catalog's; for a compatible provider that has neither, what its
 * upstream lists (spec.md, Listing rules 4).
 */
export async function baseIds(
  connection: ConnectionRecord,
  definition: CatalogProvider | undefined,
  lookUp: LookUp,
): Promise<string[]> {
  const ids = enabledIds(connection) ?? (definition?.models ?? []).map((model) => model.id)
  return ids.length === 0 && asksUpstream(connection.provider) ? lookUp(connection) : ids
}

/** The enabled ids; `undefined` without a list, and empty when all of its ids are blank. */
function enabledIds({ providerSpecificData }: ConnectionRecord): string[] | undefined {
  const enabled: unknown = providerSpecificData?.enabledModels
  if (!Array.isArray(enabled) || enabled.length === 0) return undefined
  return [...new Set(enabled.filter((id): id is string => typeof id === 'string' && id.trim() !== ''))]
}

/** Is it a compatible provider whose id does not end in `-` or `_` and 8 or more hex digits (spec.md, Listing rules 4)? */
const asksUpstream = (provider: string): boolean =>
  compatibleFormat(provider) !== undefined && !/[-_][0-9a-f]{8,}$/i.test(provider)
