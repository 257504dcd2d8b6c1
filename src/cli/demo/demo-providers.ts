import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createGateway } from '../../gateway.ts'
import { KEYRING, SETTINGS } from '../../records/record-collections.ts'
import type { Catalog, Logger, Storage } from '../../types.ts'

/** The address of the demo's providers. RFC 2606 reserves `.invalid`, so that no request to it ever leaves the machine. */
export const DEMO_BASE_URL = 'http://demo.invalid/v1'

/** The demo's models: one that always fails, one that fails now and then, one that chats, and one that embeds. */
export const BROKEN = 'broken'
export const FLAKY = 'flaky'
export const STORYTELLER = 'storyteller'
export const EMBEDDER = 'embedder'

/** What is asked for a search in place of `search`, and always fails. */
export const BROKEN_SEARCH = 'broken-search'

/** The demo's combos, named as its providers are: one for each format that clients speak. */
export const DEMO = 'demo'
export const DEMO_MESSAGES = 'demo-messages'
/** Its combo that first tries what fails now and then. */
export const DEMO_FLAKY = 'demo-flaky'
/** Its combo of searches. */
const DEMO_SEARCH = 'demo-search'

const shared = { baseUrl: DEMO_BASE_URL, models: [{ id: BROKEN }, { id: STORYTELLER }] }

/** The providers that `--demo` adds to the catalog. */
export const demoCatalog: Catalog = {
  [DEMO]: {
    ...shared,
    name: 'Demo',
    format: 'openai-chat',
    serviceKinds: ['llm', 'embedding', 'webSearch'],
    models: [...shared.models, { id: FLAKY }, { id: EMBEDDER, type: 'embedding' }],
    searchConfig: { baseUrl: DEMO_BASE_URL, price: { search: 0 } },
  },
  [DEMO_MESSAGES]: { ...shared, name: 'Demo for Anthropic clients', format: 'anthropic-messages' },
}

/** In US dollars by the million tokens, so that budgets have something to count. */
const PRICES = {
  [STORYTELLER]: { input: 2, output: 8 },
  [FLAKY]: { input: 1, output: 4 },
  [BROKEN]: { input: 1, output: 4 },
}

/** The user's data with the demo's connections and combos laid over it, in memory: none of them is ever written. */
export async function withDemoRecords(
  base: Storage,
  logger: Logger,
  writeHistory: (storage: Storage) => Promise<void>,
): Promise<Storage> {
  const demo = await demoRecords()
  // Keys are sealed with the user's secret, so that the gateway can open them; all that is written of them is the demo's.
  await writeHistory(layeredStorage(demo, base, { isOfTop: (key) => key !== KEYRING && key !== SETTINGS }))
  for (const { key } of await demo.list('combos/')) {
    if (await base.get(key))
      logger.warn(`While the demo runs, its combo "${key.slice('combos/'.length)}" replaces yours.`)
  }
  return layeredStorage(demo, base, { isOfTop: (key) => key.startsWith('usage/') || key.startsWith('limits/') })
}

/** The demo's records in a storage, as a gateway writes them. Each combo first tries the target that fails. */
async function demoRecords(): Promise<Storage> {
  const storage = memoryStorage()
  const gateway = createGateway({ storage, catalog: demoCatalog, logger: false })
  for (const name of Object.keys(demoCatalog)) {
    await gateway.api.connections.create({ provider: name, prices: PRICES })
    await gateway.api.combos.create({ name, models: [`${name}/${BROKEN}`, `${name}/${STORYTELLER}`] })
  }
  await gateway.api.combos.create({ name: DEMO_FLAKY, models: [`${DEMO}/${FLAKY}`, `${DEMO}/${STORYTELLER}`] })
  const searches = [`${DEMO}/${BROKEN_SEARCH}`, `${DEMO}/search`]
  await gateway.api.combos.create({ name: DEMO_SEARCH, kind: 'webSearch', models: searches })
  await gateway.close()
  return storage
}

/**
 * `base` with the records of `top` laid over it. Records in `top`, and all of whose key `isOfTop` says so, are read and changed there, all others
 * and new ones in `base`, so that no record of `top` is ever written to `base`.
 */
export function layeredStorage(top: Storage, base: Storage, { isOfTop = noKey } = {}): Storage {
  const layerOf = async (key: string) => (isOfTop(key) || (await top.get(key)) ? top : base)
  return {
    ...base,
    get: async (key) => (isOfTop(key) ? top.get(key) : ((await top.get(key)) ?? base.get(key))),
    set: async (key, value, options) => (await layerOf(key)).set(key, value, options),
    delete: async (key, options) => (await layerOf(key)).delete(key, options),
    async list(prefix, range = {}) {
      const [over, all] = await Promise.all([top.list(prefix, range), base.list(prefix, range)])
      const under = all.filter(({ key }) => !isOfTop(key))
      const rows = new Map([...under, ...over].map((row) => [row.key, row]))
      const sorted = [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      return range.limit === undefined ? sorted : sorted.slice(0, range.limit)
    },
  }
}

const noKey = (_key: string): boolean => false
