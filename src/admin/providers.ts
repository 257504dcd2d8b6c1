import { getCatalogAlias, getDefinition } from '../protocols/providers/provider-names.ts'
import { getCompatibleFormat } from '../protocols/providers/target.ts'
import type { ProviderRecord } from '../records/store.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { Integer } from '../types/plain-types.ts'
import { providerFields } from '../types/records/model-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { Catalog, CatalogProvider, Strategy } from '../types.ts'
import { parseInput } from './input.ts'
import { requirePresent } from './record-operations.ts'
import { createInputSchema } from './schemas.ts'

/** A provider, as the management API returns it, with defaults filled in. */
export interface Provider extends CatalogProvider {
  id: string
  /** How to choose among the provider's connections. Default: by priority. */
  strategy?: Strategy
  stickyLimit?: Integer
}

/**
 * The catalog's providers, which are read-only, and the strategies for choosing among their connections. Methods take the typed input or `Input`,
 * which is `never` for in-process calls and `unknown` for HTTP bodies.
 */
export interface ProviderOperations<Input = never> {
  list(): Promise<{ providers: Provider[] }>
  /** Rejects with `NOT_FOUND` unless the provider is in the catalog, is of a compatible kind, or has a connection. `update` does the same. */
  get(id: string): Promise<Provider>
  /** Replaces the strategy; `fallback` orders by priority. */
  update(id: string, input: ProviderChange | Input): Promise<Provider>
}

/** How to choose among a provider's connections: any strategy except `conditional`. */
export interface ProviderChange extends InputOf<typeof providerFields, 'update'> {}

export const providerInputs = { update: createInputSchema(providerFields, 'update') }

export function createProviderOperations({
  store,
  catalog,
}: {
  store: WritableStore
  catalog: Catalog
}): ProviderOperations<unknown> {
  const findStrategy = async (id: string) => (await store.providers.all()).find(({ provider }) => provider === id)

  async function requireKnownProvider(id: string): Promise<void> {
    const connection = (await store.connections.all()).find(({ provider }) => provider === id)
    const isString = typeof id === 'string' // callers in plain JavaScript may pass anything
    requirePresent(
      isString ? (getDefinition(catalog, id) ?? getCompatibleFormat(id) ?? connection) : undefined,
      'Provider',
    )
  }

  return {
    async list() {
      const records = new Map((await store.providers.all()).map((record) => [record.provider, record]))
      const otherIds = [...records.keys()].filter((id) => !getDefinition(catalog, id))
      return {
        providers: [...Object.keys(catalog), ...otherIds].map((id) => showProvider(catalog, id, records.get(id))),
      }
    },

    async get(id) {
      await requireKnownProvider(id)
      return showProvider(catalog, id, await findStrategy(id))
    },

    async update(id, input) {
      const record: ProviderRecord = { provider: id, ...parseInput(providerInputs.update, input) }
      await requireKnownProvider(id)
      await store.providers.upsert(id, record)
      return showProvider(catalog, id, await findStrategy(id))
    },
  }
}

function showProvider(catalog: Catalog, id: string, record: ProviderRecord | undefined): Provider {
  const definition = getDefinition(catalog, id) ?? {}
  const catalogAlias = getCatalogAlias(id, definition)
  return {
    id,
    ...definition,
    name: definition.name ?? id,
    alias: definition.alias ?? catalogAlias,
    catalogAlias,
    format: definition.format ?? getCompatibleFormat(id) ?? 'openai-chat',
    serviceKinds: definition.serviceKinds ?? ['llm'],
    models: definition.models ?? [],
    ...(record && { strategy: record.strategy }),
    ...(record?.stickyLimit !== undefined && { stickyLimit: record.stickyLimit }),
  }
}
