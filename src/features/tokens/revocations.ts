import { gatewayError } from '../../errors.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { createCache, type FreshnessTracker, type RefreshableValue } from '../../records/cached.ts'
import { REVOKED_KEY } from '../../records/record-collections.ts'
import { createStaleFallback, handleStorageError, retryOnConflict } from '../../records/storage-access.ts'
import type { Clock, Storage } from '../../types.ts'
import { CLOCK_TOLERANCE_MS, MAX_AHEAD_MS, MAX_LIFETIME_S } from './token-claims.ts'

/** The accounts whose tokens were revoked, shared by all instances on one storage. */
export interface Revocations {
  /**
   * Returns the time, in epoch ms, up to which tokens issued to the account are revoked, or 0 if none are. Reads the storage only if the record may
   * have changed. Rejects with `STORAGE_FAILED` if the record is damaged, and with `STORAGE_UNAVAILABLE` if it has never been read.
   */
  getRevokedUntil(ref: string): Promise<number>
  /** Revokes all of the account's tokens. Rejects with any error from storage. */
  revoke(ref: string): Promise<void>
}

/** A single record for all revocations, so checking a token usually doesn't need a read. */
interface RevokedRecord {
  /** Tokens of any account that were issued up to this time are revoked. In epoch ms. */
  all: number
  /** Tokens of one account that were issued up to this time are revoked. In epoch ms, by ref. */
  refs: ReadonlyMap<string, number>
}

export function createRevocations({
  storage,
  clock,
  freshness,
}: {
  /** Must have timeouts, as `Store.storage` does. */
  storage: Storage
  clock: Clock
  freshness: FreshnessTracker
}): Revocations {
  const cachedRecord: RefreshableValue<RevokedRecord> = createCache(
    async () => parseStored((await readStored())?.value),
    {
      clock,
      freshness,
      staleFallback: createStaleFallback(clock),
    },
  )
  freshness.onChange((key) => {
    if (key === REVOKED_KEY) cachedRecord.expire()
  })
  freshness.onGap(() => cachedRecord.expire())

  const readStored = () => storage.get(REVOKED_KEY).catch(handleStorageError('read', REVOKED_KEY))
  const maxEntries = Math.min(
    MAX_ENTRIES,
    Math.floor((storage.largestValueBytes ?? Number.POSITIVE_INFINITY) / ENTRY_BYTES),
  )

  return {
    async getRevokedUntil(ref) {
      const { all, refs } = await cachedRecord.current()
      return Math.max(all, refs.get(ref) ?? 0)
    },
    revoke: (ref) =>
      retryOnConflict(async () => {
        const storedRecord = await readStored()
        const now = clock.now()
        const record = addEntry(parseStored(storedRecord?.value), ref, now + CLOCK_TOLERANCE_MS)
        const prunedRecord = dropOldest(record, { maxEntries, endedAt: now - MAX_AGE_MS })
        const value = JSON.stringify({ all: prunedRecord.all, refs: Object.fromEntries(prunedRecord.refs) })
        const writePromise = storage
          .set(REVOKED_KEY, value, { ifVersion: storedRecord?.version ?? null })
          .catch(handleStorageError('write', REVOKED_KEY))
        if ((await writePromise.finally(() => cachedRecord.expire())) === false) return false
        cachedRecord.replace(prunedRecord, true)
        return undefined
      }),
  }
}

const MAX_ENTRIES = 10_000
/** The size of an entry, in bytes, rounded up. */
const ENTRY_BYTES = 48
/** Maximum age of an entry, in ms. By then, all tokens issued before it have expired. */
const MAX_AGE_MS = MAX_LIFETIME_S * 1_000 + MAX_AHEAD_MS + CLOCK_TOLERANCE_MS

function parseStored(text: string | undefined): RevokedRecord {
  if (text === undefined) return { all: 0, refs: new Map() }
  const record = tryParseJson(text)
  if (!isObject(record) || typeof record.all !== 'number' || !isObject(record.refs)) throw createDamagedError()
  const refs = new Map<string, number>()
  for (const [ref, until] of Object.entries(record.refs)) {
    if (typeof until !== 'number') throw createDamagedError()
    refs.set(ref, until)
  }
  return { all: record.all, refs }
}

/** Creates the error for a damaged record. Treating it as empty instead would make revoked tokens valid again. */
const createDamagedError = () =>
  gatewayError('STORAGE_FAILED', {
    message: `The stored record ${REVOKED_KEY} is damaged, so no token is accepted. Restore it from a backup, or delete it a day after the last token was revoked.`,
    data: { key: REVOKED_KEY },
  })

/** Adds a revocation, at least a millisecond after the previous one, because `mint` dates new tokens right after the latest revocation. */
const addEntry = ({ all, refs }: RevokedRecord, ref: string, until: number): RevokedRecord => ({
  all,
  refs: new Map(refs).set(ref, Math.max(until, (refs.get(ref) ?? all) + 1)),
})

/**
 * Drops entries that no longer matter. If there are still too many, also drops the older half and sets `all` to the latest dropped entry, so no
 * revoked token becomes valid again.
 */
function dropOldest(
  { all, refs }: RevokedRecord,
  { maxEntries, endedAt }: { maxEntries: number; endedAt: number },
): RevokedRecord {
  const entries = [...refs].sort(([, untilA], [, untilB]) => untilA - untilB)
  const excessCount = entries.length > maxEntries ? Math.ceil(entries.length / 2) : 0
  const droppedCount = Math.max(excessCount, entries.filter(([, until]) => until < endedAt).length)
  return {
    all: Math.max(all, entries[droppedCount - 1]?.[1] ?? 0),
    refs: new Map(entries.slice(droppedCount)),
  }
}
