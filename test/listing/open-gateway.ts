import type { RequestHandler } from 'msw'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { Catalog, Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'

/** A provider with one model of each kind. */
export const catalog: Catalog = {
  acme: {
    alias: 'ac',
    serviceKinds: ['llm', 'image', 'tts', 'stt', 'embedding', 'imageToText', 'webSearch', 'webFetch'],
    models: [
      { id: 'chat' },
      { id: 'painter', type: 'image' },
      { id: 'speaker', type: 'tts' },
      { id: 'listener', type: 'stt' },
      { id: 'vectors', type: 'embedding' },
      { id: 'seer', type: 'imageToText' },
    ],
    searchConfig: {},
    fetchConfig: {},
  },
}

interface Options {
  handlers?: RequestHandler[]
  storage?: Storage
  catalog?: Catalog
  onError?: (error: unknown) => void
}

/** Opens a gateway with that catalog and an open management API. `handlers` are its upstreams. Default: none. */
export function open({
  handlers = [],
  storage = memoryStorage(),
  catalog: own = catalog,
  onError = () => {},
}: Options = {}) {
  const clock = fakeClock(1_700_000_000_999)
  const fetch = upstream(...handlers)
  const gateway = createGateway({
    storage,
    fetch,
    clock,
    catalog: own,
    logger: false,
    hooks: { onError },
    management: { dangerouslyAllowUnauthenticated: true },
  })
  return { gateway, clock, fetch }
}

/** Returns the gateway's response to a GET request. */
export const get = (gateway: Gateway, path: string, init?: RequestInit) =>
  gateway.fetch(new Request(`http://gw${path}`, init))

/** Resolves to the IDs that the gateway lists at a path, in order. Asserts that the response is a 200. */
export async function getIds(gateway: Gateway, path: string): Promise<string[]> {
  const response = await get(gateway, path)
  assert.is(response.status, 200, path)
  const { data }: { data: Array<{ id: string }> } = await response.json()
  return data.map((entry) => entry.id)
}
