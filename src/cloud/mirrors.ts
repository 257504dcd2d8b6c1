import type { JsonObject } from '../lib/json.ts'
import { evictOldest } from '../lib/maps.ts'
import { type Cached, createCached, createFreshness } from '../store/cached.ts'
import { createPatience } from '../store/storage-access.ts'
import type { Clock } from '../types.ts'
import type { Documents } from './documents.ts'
import type { Scopes } from './scope.ts'

/** The facts about a mirror that the proxy keeps beside its data. */
export interface Mirror {
  /** A new one for each mirror that a gateway makes. */
  id: string
  /** The stamps of the last response that moved something and of the one before it, since the last response may be lost. */
  current: string
  previous: string | null
  /** ISO 8601, by the clock of the proxy. */
  createdAt: string
  lastSyncAt: string
  /** Is the data of the mirror being removed? Then its keys open nothing any more. */
  isEnding?: true
}

/** The mirrors of all tenants; each tenant has at most one. */
export interface Mirrors {
  /** The mirror as it is now in the storage. */
  read(tenant: string): Promise<Mirror | undefined>
  /** The mirror for model requests, unless it is ending. It is kept in memory for as long as the data of a gateway is. */
  current(tenant: string): Promise<Mirror | undefined>
  /** Writes the result of `change`, which is called again when another writer was faster; writes nothing when the result is `undefined`. */
  change(tenant: string, change: (mirror: Mirror | undefined) => Mirror | undefined): Promise<void>
  remove(tenant: string): Promise<void>
  /** The mirrors that are not ending. */
  list(): AsyncIterable<{ tenant: string; mirror: Mirror }>
  close(): void
}

const MIRRORS = 'mirrors/'
/** How many records are kept in memory. */
const MAX_KEPT = 5_000

export function createMirrors(deps: { documents: Documents; scopes: Scopes; clock: Clock; maxAgeMs: number }): Mirrors {
  const { documents, scopes, clock, maxAgeMs } = deps
  const freshness = createFreshness(scopes.scope(MIRRORS), clock, maxAgeMs)
  const patience = createPatience(clock)
  const kept = new Map<string, Cached<Mirror | undefined>>()
  freshness.onChange((tenant) => kept.get(tenant)?.expire())
  freshness.onGap(() => {
    for (const one of kept.values()) one.expire()
  })

  const read = async (tenant: string) => (await documents.read(MIRRORS + tenant, parseMirror))?.value

  function cachedOf(tenant: string): Cached<Mirror | undefined> {
    const cached = kept.get(tenant) ?? createCached(() => read(tenant), { clock, freshness, patience })
    if (!kept.delete(tenant)) evictOldest(kept, MAX_KEPT)
    kept.set(tenant, cached) // now the last entry of the map; `evictOldest` removes the first
    return cached
  }

  return {
    read,
    async current(tenant) {
      const mirror = await cachedOf(tenant).current()
      return mirror?.isEnding ? undefined : mirror
    },
    change: (tenant, change) =>
      documents.change(MIRRORS + tenant, parseMirror, change).finally(() => kept.get(tenant)?.drop()),
    remove: async (tenant) => void (await documents.remove(MIRRORS + tenant).finally(() => kept.get(tenant)?.drop())),
    async *list() {
      for await (const { key, value } of documents.list(MIRRORS, parseMirror))
        if (!value.isEnding) yield { tenant: key, mirror: value }
    },
    close: freshness.close,
  }
}

function parseMirror({ id, current, previous, createdAt, lastSyncAt, isEnding }: JsonObject): Mirror | undefined {
  if (typeof id !== 'string' || typeof current !== 'string' || (previous !== null && typeof previous !== 'string'))
    return undefined
  if (typeof createdAt !== 'string' || typeof lastSyncAt !== 'string') return undefined
  return { id, current, previous, createdAt, lastSyncAt, ...(isEnding === true && { isEnding }) }
}
