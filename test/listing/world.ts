import { createListing, type ListingDeps } from '../../src/listing/listing.ts'
import type { AliasRecord, ConnectionRecord } from '../../src/store/store.ts'
import type { Catalog, Clock, Combo, CustomModel, Kind, ModelEntry } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'

/** Everything a listing depends on, as plain data; what a test leaves out is empty. */
export interface World {
  catalog?: Catalog
  connections?: Array<Partial<ConnectionRecord> & { provider: string; apiKey?: string }>
  combos?: Array<Partial<Combo> & { name: string }>
  customModels?: CustomModel[]
  aliases?: string[] // the map's values
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response>

interface Host {
  fetch?: Fetch
  clock?: Clock
  onError?: (error: unknown) => void
  store?: Partial<ListingDeps['store']>
}

/** A listing over a world. Without a `fetch` there is no network: a look-up fails. */
export function listingOf(world: World, { clock = fakeClock(), onError = () => {}, store }: Host = {}) {
  return createListing({ store: { ...storeOf(world), ...store }, catalog: world.catalog ?? {}, clock, onError })
}

export function listWorld(world: World, kinds: readonly Kind[], host: Host = {}): Promise<ModelEntry[]> {
  const noNetwork: Fetch = () => Promise.reject(new TypeError('fetch failed'))
  return listingOf(world, host).list(kinds, host.fetch ?? noNetwork)
}

/** The ids alone, in their order. `K` defaults to that of `GET /v1/models`. */
export async function ids(world: World, kinds: readonly Kind[] = ['llm'], host: Host = {}): Promise<string[]> {
  return (await listWorld(world, kinds, host)).map((entry) => entry.id)
}

/** A vault that keeps secrets by writing `sealed:` in front of them. */
function storeOf(world: World): ListingDeps['store'] {
  const seal = (plain: string) => `sealed:${plain}`
  const at = new Date(0).toISOString()
  const connections = (world.connections ?? []).map(
    ({ apiKey, ...connection }, index): ConnectionRecord => ({
      id: `c${index}`,
      name: `connection ${index}`,
      createdAt: at,
      updatedAt: at,
      ...connection,
      ...(apiKey !== undefined && { sealedApiKey: seal(apiKey) }),
    }),
  )
  const combos = (world.combos ?? []).map(
    (combo, index): Combo => ({
      id: `k${index}`,
      models: [],
      strategy: 'fallback',
      createdAt: at,
      updatedAt: at,
      ...combo,
    }),
  )
  const aliases = (world.aliases ?? []).map((model, index): AliasRecord => ({ alias: `alias${index}`, model }))
  const records = <T>(all: T[]) => ({ all: async () => all })
  return {
    connections: records(connections),
    combos: records(combos),
    customModels: records(world.customModels ?? []),
    aliases: records(aliases),
    vault: async () => ({
      digest: async (credential) => credential,
      digestBySha256: async (sha256) => sha256,
      seal: async (_, plain) => seal(plain),
      open: async (_, sealed) => sealed.slice(seal('').length),
      sign: async () => '',
      verify: async () => true,
    }),
  }
}
