import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { createGateway } from '../../gateway.ts'
import { KEYRING_KEY, SETTINGS_KEY } from '../../records/record-collections.ts'
import type { Catalog, Clock, Logger, Storage } from '../../types.ts'

/** The base URL of the demo's providers. RFC 2606 reserves `.invalid`, so requests to it never leave the machine. */
export const DEMO_BASE_URL = 'http://demo.invalid/v1'

/** The demo models: `broken` always fails, `flaky` fails sometimes, `storyteller` serves chat, and `embedder` serves embeddings. */
export const BROKEN = 'broken'
export const FLAKY = 'flaky'
export const STORYTELLER = 'storyteller'
export const EMBEDDER = 'embedder'

/** The model name that makes searches fail, in place of `search`. */
export const BROKEN_SEARCH = 'broken-search'

/** The demo's combos, one per client format. They have the same names as the demo's providers. */
export const DEMO = 'demo'
export const DEMO_MESSAGES = 'demo-messages'
/** The combo that tries the flaky model first. */
export const DEMO_FLAKY = 'demo-flaky'
/** The combo for searches. */
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

/** Prices in USD per million tokens, so budgets have something to count. */
const PRICES = {
  [STORYTELLER]: { input: 2, output: 8 },
  [FLAKY]: { input: 1, output: 4 },
  [BROKEN]: { input: 1, output: 4 },
}

/** Overlays the user's data with the demo's connections and combos in memory; these are never written to the data. */
export async function withDemoRecords(
  base: Storage,
  logger: Logger,
  writeHistory: (storage: Storage) => Promise<void>,
  clock?: Clock,
): Promise<Storage> {
  const demo = await createDemoRecords(clock)
  // Keys are encrypted with the user's secret, so the gateway can decrypt them; only demo keys are written.
  await writeHistory(overlayStorage(demo, base, { isInTop: (key) => key !== KEYRING_KEY && key !== SETTINGS_KEY }))
  for (const { key } of await demo.list('combos/')) {
    if (await base.get(key))
      logger.warn(`While the demo runs, its combo "${key.slice('combos/'.length)}" replaces yours.`)
  }
  return overlayStorage(demo, base, { isInTop: (key) => key.startsWith('usage/') || key.startsWith('limits/') })
}

/** Creates the demo's records in a store, as a gateway would write them. Each combo tries the failing target first. */
async function createDemoRecords(clock?: Clock): Promise<Storage> {
  const storage = memoryStorage()
  const gateway = createGateway({ storage, catalog: demoCatalog, logger: false, ...(clock && { clock }) })
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
 * Overlays `base` with the records in `top`. Records in `top`, and records whose key passes `isInTop`, are read and changed in `top`. All others,
 * including new ones, are read and changed in `base`. Therefore, no record from `top` is ever written to `base`.
 */
export function overlayStorage(top: Storage, base: Storage, { isInTop = hasNoKey } = {}): Storage {
  const findLayer = async (key: string) => (isInTop(key) || (await top.get(key)) ? top : base)
  return {
    ...base,
    get: async (key) => (isInTop(key) ? top.get(key) : ((await top.get(key)) ?? base.get(key))),
    set: async (key, value, options) => (await findLayer(key)).set(key, value, options),
    delete: async (key, options) => (await findLayer(key)).delete(key, options),
    async list(prefix, range = {}) {
      const [over, all] = await Promise.all([top.list(prefix, range), base.list(prefix, range)])
      const under = all.filter(({ key }) => !isInTop(key))
      const rows = new Map([...under, ...over].map((row) => [row.key, row]))
      const sorted = [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      return range.limit === undefined ? sorted : sorted.slice(0, range.limit)
    },
  }
}

const hasNoKey = (_key: string): boolean => false
