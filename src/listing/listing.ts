import type { Awaitable } from '../lib/awaitable.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import { activeInOrder } from '../providers/connections.ts'
import type { AliasRecord, ConnectionRecord, Store } from '../store/store.ts'
import type { Catalog, Clock, Combo, CustomModel, Kind, ModelEntry } from '../types.ts'
import type { Asked } from './base-ids.ts'
import { listCombos } from './combos.ts'
import { listConnections } from './connection-path.ts'
import { toEntries } from './listed.ts'
import { createLookUp, onceEach } from './look-up.ts'
import { listStatic } from './static-path.ts'

export interface ListingDeps {
  store: {
    connections: Readable<ConnectionRecord>
    combos: Readable<Combo>
    customModels: Readable<CustomModel>
    aliases: Readable<AliasRecord>
    vault: Store['vault']
  }
  catalog: Catalog
  clock: Clock
  /** Called with failures that the listing tolerates: records that cannot be loaded, upstreams that list no models. */
  onError(error: unknown): void
  /** How long one upstream may take to list its models, headers and body together; default 5,000. */
  lookupTimeoutMs?: number | undefined
}

interface Readable<T> {
  all(): Awaitable<readonly T[]>
}

/** Lists the models that the gateway serves. */
export interface Listing {
  /**
   * The models of the given kinds, computed anew each time; compatible providers are asked for theirs through `fetch`, and once for all
   * lists that share `asked`.
   */
  list(kinds: readonly Kind[], fetch: UpstreamFetch, asked?: Asked): Promise<ModelEntry[]>
}

/** Makes the listing (spec.md, Listing rules). */
export function createListing({ store, catalog, clock, onError, lookupTimeoutMs = 5_000 }: ListingDeps): Listing {
  /** Rule 1: what cannot be loaded counts as empty, for this listing only. */
  async function load<T>(records: Readable<T>): Promise<readonly T[]> {
    try {
      return await records.all()
    } catch (error) {
      onError(error)
      return []
    }
  }

  return {
    async list(kinds, fetch, asked = new Map()) {
      const created = Math.floor(clock.now() / 1_000)
      const [stored, combos, customModels, aliases] = await Promise.all([
        load(store.connections),
        load(store.combos),
        load(store.customModels),
        load(store.aliases),
      ])
      const connections = activeInOrder(stored)
      const lookUp = onceEach(createLookUp({ store, clock, timeoutMs: lookupTimeoutMs, onError }, fetch), asked)
      const models =
        connections.length === 0
          ? listStatic(catalog, customModels, kinds)
          : await listConnections({ catalog, connections, customModels, aliases }, kinds, lookUp)
      return toEntries([...listCombos(combos, kinds), ...models], created)
    },
  }
}
