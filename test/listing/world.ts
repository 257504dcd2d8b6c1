import { createListing, type ListingDependencies } from '../../src/features/listing/listing.ts'
import { createCodeLayer } from '../../src/records/code-records.ts'
import type { AliasRecord, ConnectionRecord } from '../../src/records/store.ts'
import type { Catalog, Clock, Combo, CustomModel, Kind, ModelEntry } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'

/** A listing's input as plain data. Missing parts are empty. */
export interface World {
  catalog?: Catalog
  connections?: Array<Partial<ConnectionRecord> & { provider: string; apiKey?: string }>
  combos?: Array<Partial<Combo> & { name: string }>
  customModels?: CustomModel[]
  aliases?: string[] // the values of the alias map
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response>

interface Host {
  fetch?: Fetch
  clock?: Clock
  onError?: (error: unknown) => void
  store?: Partial<ListingDependencies['store']>
}

/** Creates a listing of a world. Without `fetch`, lookups fail. */
export function getListing(world: World, { clock = fakeClock(), onError = () => {}, store }: Host = {}) {
  return createListing({ store: { ...getStore(world), ...store }, catalog: world.catalog ?? {}, clock, onError })
}

export function listWorld(world: World, kinds: readonly Kind[], host: Host = {}): Promise<ModelEntry[]> {
  const noNetwork: Fetch = () => Promise.reject(new TypeError('fetch failed'))
  return getListing(world, host).list(kinds, host.fetch ?? noNetwork)
}

/** Resolves to the listed IDs, in order. Default kinds: those of `GET /v1/models`. */
export async function getIds(world: World, kinds: readonly Kind[] = ['llm'], host: Host = {}): Promise<string[]> {
  return (await listWorld(world, kinds, host)).map((entry) => entry.id)
}

/** Creates a store whose vault encrypts secrets by prepending `sealed:`. */
function getStore(world: World): ListingDependencies['store'] {
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
  const createRecords = <T>(all: T[]) => ({ all: async () => all })
  return {
    connections: createRecords(connections),
    combos: createRecords(combos),
    customModels: createRecords(world.customModels ?? []),
    aliases: createRecords(aliases),
    code: createCodeLayer(),
    keyring: async () => ({
      digest: async (credential) => credential,
      digestBySha256: async (sha256) => sha256,
      hashForLookup: async () => new Uint8Array(32),
      encrypt: async (_, plain) => seal(plain),
      decrypt: async (_, sealed) => sealed.slice(seal('').length),
      sign: async () => '',
      verify: async () => true,
    }),
  }
}
