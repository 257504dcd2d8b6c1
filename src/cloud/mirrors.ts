import type { JsonObject } from '../lib/json.ts'
import { evictOldest } from '../lib/maps.ts'
import { type Cached, createCached, createFreshness } from '../store/cached.ts'
import { createPatience } from '../store/storage-access.ts'
import type { SyncRequest } from '../sync/protocol.ts'
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
  /** The request that has moved something since `previous`: a gateway that still has that stamp remembers it. */
  attempt?: string
  /** The request that `current` was the answer to. */
  last?: string
  /** ISO 8601, by the clock of the proxy. */
  createdAt: string
  lastSyncAt: string
  /** Is the data of the mirror being removed? Then its keys open nothing any more. */
  isEnding?: true
}

/** What tells whether gateway and mirror remember the same last exchange. */
export type Stamps = Pick<Mirror, 'current' | 'previous' | 'attempt' | 'last'>
type StampedRequest = Pick<SyncRequest, 'stamp' | 'attempts' | 'full' | 'changes' | 'seen'>

/**
 * Do gateway and mirror remember the same last exchange? The last answer may have been lost; a gateway that does not remember the request has got an
 * old copy of its data back.
 */
export function isRemembered(
  { current, previous, attempt }: Stamps,
  { stamp, attempts = [] }: StampedRequest,
): boolean {
  if (stamp === null) return false
  return stamp === current || (stamp === previous && (attempt === undefined || attempts.includes(attempt)))
}

/** The stamps after a request that was answered with so many states: as they are when nothing has moved, or the request has come again. */
export function stampsAfter(
  { current, previous, attempt, last }: Stamps,
  request: StampedRequest,
  { states, newStamp }: { states: number; newStamp(): string },
): Stamps {
  const own = request.attempts?.at(-1)
  const isMoving = Boolean(request.full) || request.changes.length > 0 || request.seen.length > 0
  const isRepeated = own !== undefined && own === last && request.stamp === previous
  const isSame = isRepeated || (!isMoving && states === 0)
  const known = isSame || (!isMoving && request.stamp !== current) ? attempt : isMoving ? own : undefined
  const named = isSame ? last : own
  return {
    ...(isSame ? { current, previous } : { current: newStamp(), previous: request.stamp }),
    ...(known !== undefined && { attempt: known }),
    ...(named !== undefined && { last: named }),
  }
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

function parseMirror({
  id,
  current,
  previous,
  attempt,
  last,
  createdAt,
  lastSyncAt,
  isEnding,
}: JsonObject): Mirror | undefined {
  if (typeof id !== 'string' || typeof current !== 'string' || (previous !== null && typeof previous !== 'string'))
    return undefined
  if (typeof createdAt !== 'string' || typeof lastSyncAt !== 'string') return undefined
  const named = {
    ...(typeof attempt === 'string' && { attempt }),
    ...(typeof last === 'string' && { last }),
  }
  return { id, current, previous, ...named, createdAt, lastSyncAt, ...(isEnding === true && { isEnding }) }
}
