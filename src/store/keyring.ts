import { type GatewayError, gatewayError } from '../errors.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import { makeRoom } from '../lib/make-room.ts'
import type { ApiKey, Clock } from '../types.ts'
import { isAway, type Rereading, readOrKept } from './away.ts'
import { RETRY_AFTER_MS } from './cached.ts'
import { isClientKey } from './client-key.ts'
import { KEYS, type KeyRecord } from './collections.ts'
import type { Freshness } from './freshness.ts'
import { isProvenKey } from './proofs.ts'
import type { Records } from './records.ts'
import type { Vault } from './vault.ts'

/** The parts of a client key that a request sees. */
export type PresentedKey = Pick<ApiKey, 'id' | 'name' | 'isActive'> & { digest: string }

/** Finds the client key behind a credential. */
export interface Keyring {
  /**
   * The key; `undefined` when the credential is no key of this gateway. Rejects with `STORAGE_FAILED`, also when its record is not as a
   * gateway wrote it (proofs.ts).
   */
  find(credential: string): Awaitable<PresentedKey | undefined>
  /** Why the key with this digest may not be used as the storage has it now; `undefined` when it may. Rejects with `STORAGE_FAILED`. */
  refusalOf(digest: string): Promise<GatewayError | undefined>
  /** Calls back with the digest of each key that has changed, here or elsewhere. */
  onChange(listener: (digest: string) => void): void
}

/** A key that was looked up, by its credential. */
interface KnownKey {
  digest: string
  key: PresentedKey
  /** Epoch ms. */
  readAt: number
  /** May changes have gone unseen? */
  isExpired: boolean
  /** Until then a storage that was away is not asked again; epoch ms. */
  retryAt: number
  rereading?: Rereading<PresentedKey | undefined> | undefined
}

/**
 * Looks up keys by digest: one storage read for a key that was not seen before, none for others, however many keys there are. A change made
 * here holds for the next request, one made elsewhere as soon as `freshness` reports it. While the storage is away, a key that was read stays
 * as it was.
 */
export function createKeyring(deps: {
  records: Records<KeyRecord>
  vault: () => Promise<Vault>
  freshness: Freshness
  clock: Clock
}): Keyring & { forget(digest: string): void } {
  const { records, vault, freshness, clock } = deps
  const known = new Map<string, KnownKey>()
  const credentials = new Map<string, string>() // credential by digest
  const listeners: Array<(digest: string) => void> = []
  let epoch = 0

  freshness.onChange((storageKey) => {
    if (storageKey.startsWith(KEYS)) forget(storageKey.slice(KEYS.length))
  })

  freshness.onGap(() => {
    for (const entry of known.values()) entry.isExpired = true
    for (const { digest } of known.values()) for (const listener of listeners) listener(digest)
  })

  function forget(digest: string) {
    epoch++
    const credential = credentials.get(digest)
    credentials.delete(digest)
    if (credential !== undefined) known.delete(credential)
    for (const listener of listeners) listener(digest)
  }

  function lookAgain(credential: string, entry: KnownKey): Rereading<PresentedKey | undefined> {
    const work = lookUp(credential, entry.digest)
    work
      .catch((error: unknown) => {
        if (isAway(error)) entry.retryAt = clock.now() + RETRY_AFTER_MS
        else forget(entry.digest) // what was read before is no longer true
      })
      .finally(() => {
        entry.rereading = undefined
      })
    return { work, startedAt: clock.now() }
  }

  async function lookUp(credential: string, knownDigest?: string) {
    const startedIn = epoch
    const readAt = clock.now()
    const opened = await vault()
    const digest = knownDigest ?? (await opened.digest(credential))
    const record = await records.get(digest)
    if (!record) {
      forget(digest)
      return undefined
    }
    if (!(await isProvenKey(opened, digest, record))) throw changedElsewhere(record)
    const { id, name, isActive } = record
    const key = isActive === undefined ? { id, name, digest } : { id, name, isActive, digest }
    if (startedIn === epoch) remember(credential, { digest, key, readAt, isExpired: false, retryAt: 0 })
    return key
  }

  function remember(credential: string, entry: KnownKey) {
    const oldest = known.has(credential) ? undefined : makeRoom(known, MAX_KNOWN)
    if (oldest) credentials.delete(oldest.digest)
    known.set(credential, entry)
    credentials.set(entry.digest, credential)
  }

  return {
    forget,
    onChange: (listener) => void listeners.push(listener),
    async refusalOf(digest) {
      const record = await records.get(digest)
      if (!record) return gatewayError('KEY_UNKNOWN', { message: 'This API key has been deleted.' })
      if (!(await isProvenKey(await vault(), digest, record))) return changedElsewhere(record)
      return record.isActive === false ? gatewayError('KEY_PAUSED') : undefined
    },
    find(credential) {
      const entry = known.get(credential)
      if (!entry) return isClientKey(credential) ? lookUp(credential) : undefined
      if (!entry.isExpired && freshness.isFresh(entry.readAt)) return entry.key
      if (clock.now() < entry.retryAt) return entry.key
      entry.rereading ??= lookAgain(credential, entry)
      return readOrKept(entry.rereading, entry.key, clock)
    },
  }
}

const changedElsewhere = ({ id, name }: KeyRecord) =>
  gatewayError('STORAGE_FAILED', {
    message: `The record of the API key "${name}" was not written by a gateway with this secret. ${CONFIRM_KEY}`,
    data: { key: id },
  })

/** How a key is made usable again whose record is not as a gateway wrote it. */
export const CONFIRM_KEY = 'Pause, resume or delete it: PUT /api/keys/{id} with "isActive", or DELETE.'

const MAX_KNOWN = 20_000
