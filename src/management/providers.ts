import { catalogAliasOf, definitionOf } from '../providers/names.ts'
import { compatibleFormat } from '../providers/target.ts'
import type { ProviderRecord } from '../store/store.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { InputOf } from '../types/records/fields.ts'
import { providerFields } from '../types/records/models.ts'
import type { Catalog, CatalogProvider, Strategy } from '../types.ts'
import { parseInput } from './input.ts'
import { present } from './records.ts'
import { inputSchema } from './schemas.ts'

/** A provider as the management API shows it, with the defaults for what its definition leaves out. */
export interface Provider extends CatalogProvider {
  id: string
  /** The strategy among its connections; absent: by priority. */
  strategy?: Strategy
  stickyLimit?: number
}

/**
 * The providers of the catalog, which can be read, and their strategies, which can be set. `Input` is accepted besides the typed input:
 * nothing in process, `unknown` for bodies over HTTP.
 */
export interface ProviderOperations<Input = never> {
  list(): Promise<{ providers: Provider[] }>
  /** Rejects with `NOT_FOUND` unless the provider is in the catalog, of a compatible kind, or has a connection; so does `update`. */
  get(id: string): Promise<Provider>
  /** Replaces the strategy; `fallback` is by priority. */
  update(id: string, input: ProviderChange | Input): Promise<Provider>
}

/** The strategy among a provider's connections: any but `conditional`. */
export interface ProviderChange extends InputOf<typeof providerFields, 'update'> {}

export const providerInputs = { update: inputSchema(providerFields, 'update') }

export function createProviderOperations({
  store,
  catalog,
}: {
  store: WritableStore
  catalog: Catalog
}): ProviderOperations<unknown> {
  const recordOf = async (id: string) => (await store.providers.all()).find(({ provider }) => provider === id)

  async function requireKnown(id: string): Promise<void> {
    const connection = (await store.connections.all()).find(({ provider }) => provider === id)
    const isText = typeof id === 'string' // callers in process need not have types
    present(isText ? (definitionOf(catalog, id) ?? compatibleFormat(id) ?? connection) : undefined, 'Provider')
  }

  return {
    async list() {
      const records = new Map((await store.providers.all()).map((record) => [record.provider, record]))
      const others = [...records.keys()].filter((id) => !definitionOf(catalog, id))
      return { providers: [...Object.keys(catalog), ...others].map((id) => shown(catalog, id, records.get(id))) }
    },

    async get(id) {
      await requireKnown(id)
      return shown(catalog, id, await recordOf(id))
    },

    async update(id, input) {
      const record: ProviderRecord = { provider: id, ...parseInput(providerInputs.update, input) }
      await requireKnown(id)
      await store.providers.upsert(id, record)
      return shown(catalog, id, await recordOf(id))
    },
  }
}

function shown(catalog: Catalog, id: string, record: ProviderRecord | undefined): Provider {
  const definition = definitionOf(catalog, id) ?? {}
  const catalogAlias = catalogAliasOf(id, definition)
  return {
    id,
    ...definition,
    name: definition.name ?? id,
    alias: definition.alias ?? catalogAlias,
    catalogAlias,
    format: definition.format ?? compatibleFormat(id) ?? 'openai-chat',
    serviceKinds: definition.serviceKinds ?? ['llm'],
    models: definition.models ?? [],
    ...(record && { strategy: record.strategy }),
    ...(record?.stickyLimit !== undefined && { stickyLimit: record.stickyLimit }),
  }
}
