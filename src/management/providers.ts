import * as v from 'valibot'
import { compatibleFormat } from '../providers/compatible.ts'
import { catalogAliasOf, definitionOf } from '../providers/names.ts'
import type { ProviderRecord, Store } from '../store/store.ts'
import type { Catalog, CatalogProvider, Strategy } from '../types.ts'
import { connectionStrategy, stickyLimit } from './fields.ts'
import { present } from './find.ts'
import { closed, parseInput } from './input.ts'

/** A provider of the catalog as the management API shows it, with the defaults for what its definition leaves out. */
export interface Provider extends CatalogProvider {
  id: string
  /** How its connections are chosen among; absent: by priority. */
  strategy?: Strategy
  stickyLimit?: number
}

/** The catalog, read only but for how connections are chosen among. `Input` is what methods take besides the typed input: nothing, or `unknown`. */
export interface ProviderOperations<Input = never> {
  list(): Promise<{ providers: Provider[] }>
  /** Throws `NOT_FOUND` for a provider that nobody knows, as `update` does. */
  get(id: string): Promise<Provider>
  /** `fallback` is by priority. Replaces what was set before. */
  update(id: string, input: ProviderChange | Input): Promise<Provider>
}

/** How a provider's connections are to be chosen among. */
export interface ProviderChange {
  strategy: Strategy
  /** Under `round-robin`: so many requests in a row for each connection; default 1. */
  stickyLimit?: number
}

const change = closed({ strategy: connectionStrategy, stickyLimit: v.exactOptional(stickyLimit) })

export function createProviderOperations({
  store,
  catalog,
}: {
  store: Store
  catalog: Catalog
}): ProviderOperations<unknown> {
  const recordOf = async (id: string) => (await store.providers.all()).find(({ provider }) => provider === id)

  async function requireKnown(id: string): Promise<void> {
    const connection = (await store.connections.all()).find(({ provider }) => provider === id)
    present(definitionOf(catalog, id) ?? compatibleFormat(id) ?? connection, 'Provider')
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
      const record: ProviderRecord = { provider: id, ...parseInput(change, input) }
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
