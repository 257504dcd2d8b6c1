import { evictOldest } from '../lib/maps.ts'
import type { Clock, Storage, Stored } from '../types.ts'
import { isClientKey } from './key-format.ts'
import type { ExpectedCallers } from './lazy-read-ahead.ts'
import type { Secret } from './open-keyring.ts'
import { listCallerRecords, MAX_CALLERS, ReadingLists, readTokenAhead } from './reading-lists.ts'
import {
  ACCOUNT_LIMITS_END,
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  KEYRING_KEY,
  KEYS_PREFIX,
  LIMITS,
  PROVIDERS_PREFIX,
  SETTINGS_KEY,
} from './record-collections.ts'
import { PAGE_SIZE } from './stored-records.ts'

const LISTED_PREFIXES = [CONNECTIONS_PREFIX, COMBOS_PREFIX, ALIASES_PREFIX, CUSTOM_MODELS_PREFIX, PROVIDERS_PREFIX]

/** Records that a request reads one by one. */
const LOOKUPS = [{ prefix: KEYS_PREFIX }, { prefix: GROUPS_PREFIX }, { prefix: LIMITS, after: ACCOUNT_LIMITS_END }]

/** How many records of each lookup are read ahead. In a small store, that is all of them. */
const MAX_LOOKUPS = 100

/** How many times a first request reads the keyring and the settings. */
const MAX_USES = 2

/** How long a result may be used, in ms. */
const MAX_AGE_MS = 1_000

export interface ReadAheadOptions {
  storage: Storage
  clock: Clock
  /** How old a request's data may be, in ms. Default: 1,000. */
  maxAgeMs?: number | undefined
  secret?: Secret | undefined
  /** Finds the digest of a credential that is a previous value of a known key. */
  findPreviousDigest(credential: string): string | undefined
}

/** A store that reads ahead. */
export interface ReadAhead {
  storage: Storage
  /** Reads the records of a caller ahead (reading-lists.ts). Absent if the storage can't, or if they would be too old. */
  expect?: ExpectedCallers['expect']
  /** Stores the caller's reading list if necessary. */
  learn?: ExpectedCallers['learn']
}

/**
 * Reads everything that a first request needs as soon as the keyring is first read. In a remote storage, each read takes a round trip, and successive
 * round trips add up. A result is only used within a second, and never after a write.
 */
export function withReadAhead(options: ReadAheadOptions): ReadAhead {
  const { storage, clock, maxAgeMs = MAX_AGE_MS, findPreviousDigest } = options
  const { getLinked, ...operations } = storage
  const readsRecords = storage.atomic && maxAgeMs >= MAX_AGE_MS
  const lookedUp = readsRecords ? LOOKUPS : []
  const lists =
    readsRecords && getLinked ? new ReadingLists({ ...options, getLinked, maxAgeMs: MAX_AGE_MS }) : undefined
  let ahead: ReturnType<typeof start> | undefined
  let startedAt: number | undefined // in epoch ms
  let isListed = async (_key: string) => false
  const learned = new Map<string, true>()

  function start() {
    startedAt = clock.now()
    const gets = [KEYRING_KEY, SETTINGS_KEY].map((key) => [key, { uses: 0, work: storage.get(key) }] as const)
    const listings = LISTED_PREFIXES.map(
      (prefix) => [prefix, { uses: 1, work: storage.list(prefix, { limit: PAGE_SIZE }) }] as const,
    )
    const lookups = lookedUp.map(({ prefix, after }) => ({
      prefix,
      isFor: (key: string) => key.startsWith(prefix) && (after === undefined || key > after),
      used: new Set<string>(),
      work: storage.list(prefix, { limit: MAX_LOOKUPS, ...(after !== undefined && { after }) }),
    }))
    for (const { work } of [...[...gets, ...listings].map(([, pending]) => pending), ...lookups])
      Promise.resolve(work).catch(() => {}) // the reader receives the rejection
    const listed = lookups.map(({ isFor, work }) => {
      const keys = work.then(
        (records) => (records.length < MAX_LOOKUPS ? 'all' : new Set(records.map(({ key }) => key))),
        () => undefined,
      )
      return { isFor, keys }
    })
    isListed = async (key) => {
      const keys = await listed.find(({ isFor }) => isFor(key))?.keys
      return keys === 'all' || keys?.has(key) === true
    }
    return { gets: new Map(gets), listings: new Map(listings), lookups }
  }

  function getAhead() {
    if (clock.now() - (startedAt ?? 0) >= MAX_AGE_MS) ahead = undefined
    return ahead
  }

  function take<Work>(reads: Map<string, { uses: number; work: Work }> | undefined, key: string): Work | undefined {
    const pending = reads?.get(key)
    if (pending && ++pending.uses >= MAX_USES) reads?.delete(key)
    return pending?.work
  }

  /** Reads a record. The first read uses the record that was read ahead. */
  async function lookUp(key: string): Promise<Stored | undefined> {
    const entry = await lists?.take(key)
    if (entry) return entry.stored
    const pending = getAhead()?.lookups.find(({ isFor }) => isFor(key))
    if (!pending || pending.used.has(key)) return storage.get(key)
    pending.used.add(key)
    const records = await pending.work.catch(() => undefined)
    const record = records?.find((item) => item.key === key)
    // If other instances have created the counters since, the conditional write fails, and they are read again.
    const isNewScope = key.startsWith(LIMITS) && records !== undefined && records.length < MAX_LOOKUPS
    return record || isNewScope ? record : storage.get(key)
  }

  async function write<T>(key: string, writing: Promise<T>): Promise<T> {
    ahead = undefined
    lists?.drop(key)
    return writing.finally(() => lists?.drop(key)) // a read that started in the meantime may have returned the previous value
  }

  const reading: Storage = {
    ...operations,
    get(key) {
      if (startedAt === undefined && key === KEYRING_KEY) ahead = start()
      const work = take(getAhead()?.gets, key)
      return work ? work.then((stored) => stored ?? storage.get(key)) : lookUp(key)
    },
    async list(prefix, range) {
      if (range?.after !== undefined || range?.limit !== PAGE_SIZE) return storage.list(prefix, range)
      const isGroups = prefix === GROUPS_PREFIX
      const groups =
        isGroups && getAhead()?.lookups.find((lookup) => lookup.prefix === prefix && !lookup.used.has(prefix))
      if (groups) {
        groups.used.add(prefix)
        const records = await groups.work.catch(() => undefined)
        if (records && records.length < MAX_LOOKUPS) return records
      }
      return (await take(getAhead()?.listings, prefix)) ?? storage.list(prefix, range)
    },
    set: (...args) => write(args[0], storage.set(...args)),
    delete: (...args) => write(args[0], storage.delete(...args)),
  }

  return {
    storage: reading,
    ...(lists && {
      expect(credential, account) {
        const name = getName(credential, account)
        if (lists.has(name)) return
        const isCold = startedAt === undefined || clock.now() - startedAt < MAX_AGE_MS
        const token = credential && isCold && readTokenAhead(credential)
        if (token) lists.expect(getName(undefined, token.account), isCold, token.records)
        else if (credential === undefined || isClientKey(credential)) lists.expect(name, isCold)
      },
      learn(caller, listCredentials, run) {
        const { owner, key, account } = caller
        const id = `${owner} ${key?.id}`
        if (learned.has(id)) return
        evictOldest(learned, MAX_CALLERS)
        learned.set(id, true)
        const [credential, ...others] = key ? listCredentials().filter(isClientKey) : []
        const names = account ? [getName(undefined, account.id)] : []
        // With more keys, one of them may be unknown.
        if (credential !== undefined && others.length === 0)
          names.push(getName(credential), ...(account ? [getName(credential, account.id)] : []))
        const records = listCallerRecords(caller, credential && findPreviousDigest(credential))
        for (const name of names) run(lists.learn(name, records, isListed))
      },
    }),
  }
}

const getName = (credential = '', account = '') => `${credential}\n${account}`
