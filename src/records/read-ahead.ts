import { evictOldest } from '../lib/maps.ts'
import type { Clock, Storage, Stored } from '../types.ts'
import { isClientKey } from './key-format.ts'
import type { ExpectedCallers } from './lazy-read-ahead.ts'
import type { Secret } from './open-keyring.ts'
import { listCallerRecords, MAX_CALLERS, parseUnverifiedToken, ReadingLists } from './reading-lists.ts'
import {
  ACCOUNT_LIMITS_END,
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  KEYRING_KEY,
  KEYS_PREFIX,
  LIMITS_PREFIX,
  PROVIDERS_PREFIX,
  SETTINGS_KEY,
} from './record-collections.ts'
import { PAGE_SIZE } from './stored-records.ts'

const LISTED_PREFIXES = [CONNECTIONS_PREFIX, COMBOS_PREFIX, ALIASES_PREFIX, CUSTOM_MODELS_PREFIX, PROVIDERS_PREFIX]

/** Records that a request reads one by one. */
const LOOKUPS = [
  { prefix: KEYS_PREFIX },
  { prefix: GROUPS_PREFIX },
  { prefix: LIMITS_PREFIX, after: ACCOUNT_LIMITS_END },
]

/** How many records of each lookup are read ahead. In a small store, that is all of them. */
const MAX_LOOKUP_RECORDS = 100

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

/** A storage with read-ahead, and the functions that control it. */
export interface ReadAhead {
  storage: Storage
  /** Reads the records of a caller ahead (reading-lists.ts). Absent if the storage can't, or if they would be too old. */
  preload?: ExpectedCallers['preload']
  /** Stores the caller's reading list if necessary. */
  saveReadingList?: ExpectedCallers['saveReadingList']
}

/**
 * Reads everything that a first request needs as soon as the keyring is first read. In a remote storage, each read takes a round trip, and successive
 * round trips add up. A result is only used within a second, and never after a write.
 */
export function withReadAhead(options: ReadAheadOptions): ReadAhead {
  const { storage, clock, maxAgeMs = MAX_AGE_MS, findPreviousDigest } = options
  const { getLinked, ...operations } = storage
  const readsRecords = storage.atomic && maxAgeMs >= MAX_AGE_MS
  const lookupRanges = readsRecords ? LOOKUPS : []
  const lists =
    readsRecords && getLinked ? new ReadingLists({ ...options, getLinked, maxAgeMs: MAX_AGE_MS }) : undefined
  let readAhead: ReturnType<typeof startReadAhead> | undefined
  let startedAt: number | undefined // in epoch ms
  let isListed = async (_key: string) => false
  const savedCallers = new Map<string, true>()

  function startReadAhead() {
    startedAt = clock.now()
    const gets = [KEYRING_KEY, SETTINGS_KEY].map((key) => [key, { uses: 0, work: storage.get(key) }] as const)
    const listings = LISTED_PREFIXES.map(
      (prefix) => [prefix, { uses: 1, work: storage.list(prefix, { limit: PAGE_SIZE }) }] as const,
    )
    const lookups = lookupRanges.map(({ prefix, after }) => ({
      prefix,
      coversKey: (key: string) => key.startsWith(prefix) && (after === undefined || key > after),
      usedKeys: new Set<string>(),
      work: storage.list(prefix, { limit: MAX_LOOKUP_RECORDS, ...(after !== undefined && { after }) }),
    }))
    for (const { work } of [...[...gets, ...listings].map(([, pending]) => pending), ...lookups])
      Promise.resolve(work).catch(() => {}) // the reader receives the rejection
    const listedKeys = lookups.map(({ coversKey, work }) => {
      const keys = work.then(
        (records) => (records.length < MAX_LOOKUP_RECORDS ? 'all' : new Set(records.map(({ key }) => key))),
        () => undefined,
      )
      return { coversKey, keys }
    })
    isListed = async (key) => {
      const keys = await listedKeys.find(({ coversKey }) => coversKey(key))?.keys
      return keys === 'all' || keys?.has(key) === true
    }
    return { gets: new Map(gets), listings: new Map(listings), lookups }
  }

  function getFreshReadAhead() {
    if (clock.now() - (startedAt ?? 0) >= MAX_AGE_MS) readAhead = undefined
    return readAhead
  }

  function take<Work>(reads: Map<string, { uses: number; work: Work }> | undefined, key: string): Work | undefined {
    const pendingRead = reads?.get(key)
    if (pendingRead && ++pendingRead.uses >= MAX_USES) reads?.delete(key)
    return pendingRead?.work
  }

  /** Reads a record. The first read uses the record that was read ahead. */
  async function lookUp(key: string): Promise<Stored | undefined> {
    const entry = await lists?.take(key)
    if (entry) return entry.stored
    const lookup = getFreshReadAhead()?.lookups.find(({ coversKey }) => coversKey(key))
    if (!lookup || lookup.usedKeys.has(key)) return storage.get(key)
    lookup.usedKeys.add(key)
    const records = await lookup.work.catch(() => undefined)
    const record = records?.find((candidate) => candidate.key === key)
    // If other instances have created the counters since, the conditional write fails, and they are read again.
    const isNewScope = key.startsWith(LIMITS_PREFIX) && records !== undefined && records.length < MAX_LOOKUP_RECORDS
    return record || isNewScope ? record : storage.get(key)
  }

  async function write<T>(key: string, pendingWrite: Promise<T>): Promise<T> {
    readAhead = undefined
    lists?.invalidate(key)
    return pendingWrite.finally(() => lists?.invalidate(key)) // a read that started in the meantime may have returned the previous value
  }

  const readAheadStorage: Storage = {
    ...operations,
    get(key) {
      if (startedAt === undefined && key === KEYRING_KEY) readAhead = startReadAhead()
      const work = take(getFreshReadAhead()?.gets, key)
      return work ? work.then((stored) => stored ?? storage.get(key)) : lookUp(key)
    },
    async list(prefix, options) {
      if (options?.after !== undefined || options?.limit !== PAGE_SIZE) return storage.list(prefix, options)
      const isGroups = prefix === GROUPS_PREFIX
      const groupLookup =
        isGroups &&
        getFreshReadAhead()?.lookups.find((lookup) => lookup.prefix === prefix && !lookup.usedKeys.has(prefix))
      if (groupLookup) {
        groupLookup.usedKeys.add(prefix)
        const records = await groupLookup.work.catch(() => undefined)
        if (records && records.length < MAX_LOOKUP_RECORDS) return records
      }
      return (await take(getFreshReadAhead()?.listings, prefix)) ?? storage.list(prefix, options)
    },
    set: (...args) => write(args[0], storage.set(...args)),
    delete: (...args) => write(args[0], storage.delete(...args)),
  }

  return {
    storage: readAheadStorage,
    ...(lists && {
      preload(credential, account) {
        const callerName = getCallerName(credential, account)
        if (lists.has(callerName)) return
        const isCold = startedAt === undefined || clock.now() - startedAt < MAX_AGE_MS
        const token = credential && isCold && parseUnverifiedToken(credential)
        if (token) lists.preload(getCallerName(undefined, token.account), isCold, token.records)
        else if (credential === undefined || isClientKey(credential)) lists.preload(callerName, isCold)
      },
      saveReadingList(caller, listCredentials, run) {
        const { owner, key, account } = caller
        const callerId = `${owner} ${key?.id}`
        if (savedCallers.has(callerId)) return
        evictOldest(savedCallers, MAX_CALLERS)
        savedCallers.set(callerId, true)
        const [credential, ...others] = key ? listCredentials().filter(isClientKey) : []
        const callerNames = account ? [getCallerName(undefined, account.id)] : []
        // With more keys, one of them may be unknown.
        if (credential !== undefined && others.length === 0)
          callerNames.push(getCallerName(credential), ...(account ? [getCallerName(credential, account.id)] : []))
        const records = listCallerRecords(caller, credential && findPreviousDigest(credential))
        for (const callerName of callerNames) run(lists.save(callerName, records, isListed))
      },
    }),
  }
}

const getCallerName = (credential = '', account = '') => `${credential}\n${account}`
