import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { CatalogOptions, FetchedCatalog } from '../../src/features/catalog/live-types.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { Catalog, CatalogModel, Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { loadLateParts } from '../pipeline/support/under-load.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'

/** A catalog with one provider, priced as of 2026-01-01. */
export const base: Catalog = {
  one: {
    name: 'One',
    baseUrl: 'http://one.test/v1',
    asOf: '2026-01-01',
    models: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, price: { input: 10, output: 20 } })),
  },
}

/** Returns the models of `base` with some of them replaced or added. `undefined` removes a model. */
export function changeCatalog(models: Readonly<Record<string, CatalogModel['price'] | 'gone' | null>>): FetchedCatalog {
  const list = new Map((base.one?.models ?? []).map((model) => [model.id, model]))
  for (const [id, price] of Object.entries(models))
    if (price === 'gone') list.delete(id)
    else list.set(id, { id, ...(price && { price }) })
  return { providers: { one: [...list.values()] }, asOf: '2026-01-02', source: 'the test' }
}

export interface CatalogWorld {
  gateway: Gateway
  api: Gateway['api']
  clock: FakeClock
  storage: Storage
  /** Returns how often the source was called. */
  fetches(): number
  warnings: string[]
  /** Sends a chat request to `one/<model>`, and waits for background work. */
  send(model?: string): Promise<Response>
  settle(): Promise<void>
}

/** Opens a gateway that refreshes its catalog from `source`. */
export async function openCatalog(
  source: CatalogOptions['refresh'],
  input: Partial<CatalogOptions> & {
    storage?: Storage
    clock?: FakeClock
    fetch?: (url: string, init?: RequestInit) => Promise<Response>
  } = {},
): Promise<CatalogWorld> {
  const { storage: stored, clock = fakeClock(), fetch: own, ...options } = input
  const storage = stored ?? memoryStorage({ clock })
  await loadLateParts()
  await import('../../src/features/catalog/live-catalog.ts')
  let count = 0
  const warnings: string[] = []
  const refresh: CatalogOptions['refresh'] =
    typeof source === 'string'
      ? source
      : (request) => {
          count++
          return source(request)
        }
  const gateway = createGateway({
    storage,
    clock,
    catalog: { base, refresh, ...options },
    logger: { warn: (message) => void warnings.push(message), error: (message) => void warnings.push(message) },
    async fetch(url, init) {
      if (!url.includes('models.dev')) return Response.json(chatResponse())
      count++
      return own ? own(url, init) : new Response('', { status: 500 })
    },
  })
  const { api } = gateway
  if ((await api.connections.list()).connections.length === 0)
    await api.connections.create({ provider: Object.keys(options.base ?? base)[0] ?? '', apiKey: 'k' })
  /** Waits for background work, for 0.1 s at most. */
  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      const lease = await storage.get('catalog/lease')
      if (turn > 2 && lease && JSON.parse(lease.value).nextAt - clock.now() > 60_000) return
    }
  }
  return {
    ...{ gateway, api, clock, storage, warnings, settle },
    fetches: () => count,
    async send(model = 'a') {
      const body = JSON.stringify({ model: `one/${model}`, messages: [{ role: 'user', content: 'Hi' }] })
      const response = await gateway.fetch(new Request('http://gateway/v1/chat/completions', { method: 'POST', body }))
      const copy = response.clone()
      await response.text()
      await settle()
      return copy
    },
  }
}

/** Returns a model's price, as shown by the management API. */
export const findModel = async ({ api }: Pick<CatalogWorld, 'api'>, id: string) =>
  (await api.providers.get('one')).models?.find((model) => model.id === id)
