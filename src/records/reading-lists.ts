import { decodeUtf8, encodeUtf8, fromBase64, toHex } from '../lib/bytes.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { evictOldest } from '../lib/maps.ts'
import { once } from '../lib/promises.ts'
import type { Clock, Storage, Stored, UsageLimits } from '../types.ts'
import { deriveSecretKey } from './keyring-record.ts'
import { readSecrets, type Secret } from './open-keyring.ts'
import {
  ACCOUNTS_PREFIX,
  GROUPS_PREFIX,
  getCountersKey,
  KEYS_PREFIX,
  PREVIOUS_KEYS_PREFIX,
  READING_LISTS_PREFIX,
  REVOKED_KEY,
} from './record-collections.ts'

/*
 * A caller's first request on an instance reads the caller's records: its key or account, its group, and their counters. The storage key of each one is
 * only known once another has been read, and each read takes a round trip. So the first instance that serves a caller stores these storage keys as
 * the caller's reading list, and other instances read the list and the records in one round trip. The list's own storage key is derived from the
 * credential or account ID with the gateway's secret. A list is never trusted: it contains no data, and records read with it are verified like all
 * others.
 */

/** The parts of a caller that its records depend on. */
export interface ListedCaller {
  owner: string
  key?: { digest: string; id: string; group?: ListedGroup; limits?: UsageLimits } | undefined
  account?: { id: string; ref: string; plan?: ListedGroup | undefined; limits?: UsageLimits | undefined } | undefined
}

interface ListedGroup {
  id: string
  name: string
  limits?: UsageLimits
}

interface ReadingListsOptions {
  storage: Storage
  getLinked: NonNullable<Storage['getLinked']>
  clock: Clock
  secret?: Secret | undefined
  /** How long a result may be used, in ms. */
  maxAgeMs: number
}

/** An entry that was read ahead; `stored` is `undefined` if it doesn't exist. */
interface PreloadedEntry {
  stored: Stored | undefined
  readAt: number
}

/** Reads and stores the reading lists of callers. */
export class ReadingLists {
  readonly #options: ReadingListsOptions
  /** The lists that this instance has read, by caller; `undefined` if that failed. */
  readonly #lists = new Map<string, Promise<readonly string[] | undefined>>()
  readonly #entries = new Map<string, PreloadedEntry>()
  /** The storage keys written during each pending read. */
  readonly #pendingWrites = new Set<Set<string>>()
  /** Pending reads that every reader waits for. */
  readonly #awaitedReads = new Set<Promise<unknown>>()
  readonly #loadNameKey: () => Promise<CryptoKey>

  constructor(options: ReadingListsOptions) {
    this.#options = options
    this.#loadNameKey = once(async () => {
      const [secret] = await readSecrets(options.secret, options.storage)
      const algorithm = { name: 'HMAC', hash: 'SHA-256', length: 256 }
      // Without a secret, the keyring isn't encrypted either.
      return deriveSecretKey(secret?.value ?? 'signalbox', {
        info: 'signalbox reading lists',
        algorithm,
        usages: ['sign'],
      })
    })
  }

  /** Returns whether this instance has read a caller's list. */
  has(caller: string): boolean {
    return this.#lists.has(caller)
  }

  /**
   * Reads the records on a caller's list, once per instance, and the given records. If `isAwaited`, readers of records wait for them. Never throws.
   */
  preload(caller: string, isAwaited: boolean, records: readonly string[] = []): void {
    if (this.has(caller)) return
    const { clock, maxAgeMs } = this.#options
    const work = this.#read(caller, records)
    const pendingList = settlesWithin(work, maxAgeMs, clock).then((isRead) => (isRead ? work : undefined))
    evictOldest(this.#lists, MAX_CALLERS)
    this.#lists.set(caller, pendingList)
    if (!isAwaited) return
    this.#awaitedReads.add(pendingList)
    void pendingList.then(() => this.#awaitedReads.delete(pendingList))
  }

  /** Returns an entry that was read ahead, once. */
  async take(key: string): Promise<PreloadedEntry | undefined> {
    if (this.#awaitedReads.size > 0) await Promise.all(this.#awaitedReads)
    const entry = this.#entries.get(key)
    this.#entries.delete(key)
    return entry && this.#isFresh(entry) ? entry : undefined
  }

  /** Forgets an entry that this instance is about to write. */
  invalidate(key: string): void {
    this.#entries.delete(key)
    for (const writtenKeys of this.#pendingWrites) writtenKeys.add(key)
  }

  /**
   * Stores a caller's list, unless all records are on it, or are read ahead anyway because `isReadAhead` says so. Call it once per instance. Never
   * rejects.
   */
  async save(caller: string, keys: readonly string[], isReadAhead: (key: string) => Promise<boolean>): Promise<void> {
    const list = await this.#lists.get(caller)
    if (!list) return
    const areCovered = await Promise.all(keys.map((key) => list.includes(key) || isReadAhead(key)))
    if (areCovered.every(Boolean)) return
    await this.#options.storage
      .set(await this.#getListKey(caller), keys.join('\n'), { ttlMs: LIST_TTL_MS, durability: 'relaxed' })
      .catch(() => {}) // the next instance tries again
  }

  async #read(caller: string, records: readonly string[]): Promise<readonly string[] | undefined> {
    const { storage, getLinked, clock } = this.#options
    const writtenKeys = new Set<string>()
    try {
      const listKey = await this.#getListKey(caller)
      const readAt = clock.now()
      this.#pendingWrites.add(writtenKeys)
      const [linked, ...recordEntries] = await Promise.all([
        getLinked(listKey),
        ...records.map((key) => storage.get(key)),
      ])
      const storedByKey = new Map<string, Stored | undefined>(linked.map(({ key, ...stored }) => [key, stored]))
      records.forEach((key, index) => void storedByKey.set(key, recordEntries[index]))
      const list = parseList(storedByKey.get(listKey)?.value)
      for (const [key, entry] of this.#entries) {
        if (this.#isFresh(entry)) break
        this.#entries.delete(key)
      }
      for (const key of [...list, ...records]) {
        if (writtenKeys.has(key)) continue
        this.#entries.delete(key) // keeps the oldest entries first
        this.#entries.set(key, { stored: storedByKey.get(key), readAt })
      }
      return list
    } catch {
      return undefined // the records are read one by one
    } finally {
      this.#pendingWrites.delete(writtenKeys)
    }
  }

  async #getListKey(caller: string): Promise<string> {
    const mac = await crypto.subtle.sign('HMAC', await this.#loadNameKey(), encodeUtf8(caller))
    return READING_LISTS_PREFIX + toHex(new Uint8Array(mac))
  }

  #isFresh({ readAt }: PreloadedEntry): boolean {
    return this.#options.clock.now() - readAt < this.#options.maxAgeMs
  }
}

/** Lists the storage keys that a request of a caller reads. `previousDigest` is the credential's digest if it is a previous value of the key. */
export function listCallerRecords({ key, account }: ListedCaller, previousDigest: string | undefined): string[] {
  const storageKeys: string[] = []
  if (previousDigest !== undefined)
    storageKeys.push(KEYS_PREFIX + previousDigest, PREVIOUS_KEYS_PREFIX + previousDigest)
  if (key) {
    storageKeys.push(KEYS_PREFIX + key.digest)
    if (key.limits) storageKeys.push(getCountersKey('key', key.id))
  }
  if (account) {
    storageKeys.push(ACCOUNTS_PREFIX + encodeURIComponent(account.ref))
    if (account.limits) storageKeys.push(getCountersKey('account', account.ref))
    if (account.plan) storageKeys.push(GROUPS_PREFIX + encodeURIComponent(account.plan.name)) // your app may name the plan
  }
  for (const group of [key?.group, account?.plan]) {
    if (!group) continue
    storageKeys.push(GROUPS_PREFIX + encodeURIComponent(group.id))
    if (group.limits) storageKeys.push(getCountersKey('group', group.id))
  }
  return [...new Set(storageKeys)]
}

/**
 * Returns the account of a token, and the records that a request with it reads in addition to the account's. The token isn't verified yet. Returns
 * `undefined` for other credentials.
 */
export function parseUnverifiedToken(credential: string): { account: string; records: string[] } | undefined {
  if (!credential.startsWith('sbt_')) return undefined
  try {
    const [, payload = ''] = credential.split('.')
    const base64 = payload.replaceAll('-', '+').replaceAll('_', '/')
    const { sub, jti, lim }: Record<string, unknown> = Object(JSON.parse(decodeUtf8(fromBase64(base64))))
    if (typeof sub !== 'string' || typeof jti !== 'string') return undefined
    return { account: sub, records: [REVOKED_KEY, ...(lim ? [getCountersKey('run', jti)] : [])] }
  } catch {
    return undefined // not a token
  }
}

/** Returns the storage keys on a list. Ignores anything that `listCallerRecords` never returns, because `getLinked` may not read it. */
const parseList = (text = ''): string[] =>
  text
    .split('\n')
    .slice(0, MAX_LIST_LENGTH)
    .filter((key) => RECORD_PATTERN.test(key))

const RECORD_PATTERN = /^(?:(?:former-)?keys|groups|accounts|limits)\/[\w/%.~!*'()-]+$/
const MAX_LIST_LENGTH = 20
export const MAX_CALLERS = 20_000
/** How long a list is kept, in ms. */
const LIST_TTL_MS = 60 * 24 * 60 * 60 * 1_000
