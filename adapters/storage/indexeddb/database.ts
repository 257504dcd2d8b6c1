import { promisifyRequest } from 'idb-keyval'
import { createStorageError, type StorageErrorCode } from '../lib/storage-error.ts'

/** The object stores that a transaction reads and writes. */
export interface Stores {
  /** Rows by key. */
  records: IDBObjectStore
  /** The change log. Entries are numbered consecutively. */
  changes: IDBObjectStore
  /** The database's secret and identity. */
  own: IDBObjectStore
}

/** A database, opened on the first transaction. */
export interface Database {
  /** Runs the work in one transaction, which ends as soon as the work waits for anything other than its own requests. */
  read<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /** Like `read`, for changes. Resolves once they are on disk. If it rejects, nothing was changed. */
  write<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  close(): void
}

const SCHEMA_VERSION = 1
const STORES = ['records', 'changes', 'own'] as const
const IDENTITY_KEY = 'identity'
/** How long other contexts may block the database, in ms. A gateway waits a second longer than this for its storage. */
const BLOCKED_TIMEOUT_MS = 4_000

/**
 * Opens the database with this name. Closes its connection when another context deletes or upgrades the database, and reopens it for the next
 * transaction. A database that was deleted in the meantime is never treated as an empty one, which would reset settings such as `requireApiKey`.
 */
export function openDatabase(name: string, onLost: () => void): Database {
  let connection: Promise<IDBDatabase> | undefined
  /** The identity of the database when it was first opened. A different database may have the same name later. */
  let identity: unknown

  function connect(): Promise<IDBDatabase> {
    connection ??= open().catch((cause: unknown) => {
      connection = undefined
      throw cause
    })
    return connection
  }

  async function open(): Promise<IDBDatabase> {
    if (typeof indexedDB === 'undefined') throw createDatabaseError(name, UNSUPPORTED)
    const request = indexedDB.open(name, SCHEMA_VERSION)
    request.onupgradeneeded = () => {
      if (identity !== undefined) return request.transaction?.abort() // the original database was deleted
      request.result.createObjectStore('records').createIndex('expiresAt', 'expiresAt')
      request.result.createObjectStore('changes', { autoIncrement: true })
      request.result.createObjectStore('own').put(crypto.randomUUID(), IDENTITY_KEY)
    }
    const database = await promisifyRequest(request).catch((cause: unknown) => {
      throw identity !== undefined && getErrorName(cause) === 'AbortError' ? createDatabaseError(name, DELETED) : cause
    })
    const leave = () => {
      database.close()
      connection = undefined
      onLost()
    }
    database.onversionchange = leave
    database.onclose = leave
    try {
      const found: unknown = await promisifyRequest(database.transaction('own').objectStore('own').get(IDENTITY_KEY))
      identity ??= found
      if (identity !== found) throw createDatabaseError(name, DELETED)
    } catch (cause) {
      database.close()
      throw cause
    }
    return database
  }

  async function transact<T>(mode: IDBTransactionMode, work: (stores: Stores) => Promise<T>): Promise<T> {
    let transaction: IDBTransaction | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(createDatabaseError(name, LOCKED)), BLOCKED_TIMEOUT_MS)
    })
    try {
      const database = await Promise.race([connect(), timeout])
      transaction = database.transaction(STORES, mode, { durability: 'strict' })
      const committed = promisifyRequest(transaction)
      const [records, changes, identity] = STORES.map((store) => transaction?.objectStore(store)) as StoreList // there is one object store for each name
      const done = Promise.all([work({ records, changes, own: identity }), committed])
      return (await Promise.race([done, timeout]))[0]
    } catch (cause) {
      const reason = transaction?.error ?? cause // requests in an aborted transaction only report that it was aborted
      abort(transaction)
      throw toStorageError(reason, name)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    read: (work) => transact('readonly', work),
    write: (work) => transact('readwrite', work),
    close() {
      void connection?.then(
        (database) => database.close(),
        () => {},
      )
      connection = undefined
    },
  }
}

type StoreList = [IDBObjectStore, IDBObjectStore, IDBObjectStore]

function abort(transaction: IDBTransaction | undefined): void {
  try {
    transaction?.abort()
  } catch {} // the transaction has already ended
}

const getErrorName = (cause: unknown) => (cause instanceof Error ? cause.name : '')

/** An error's code, and the text that follows the database's name in its message. */
type ErrorDescription = [code: StorageErrorCode, text: string]

/** The meaning of browser errors, by name. */
const DESCRIPTION_BY_ERROR: Record<string, ErrorDescription> = {
  DataCloneError: [
    'STORAGE_UNWRITABLE',
    'cannot store an encryption key in this browser. Give the gateway a `secret`.',
  ],
  NotFoundError: ['STORAGE_CORRUPT', 'was created by another program. Give indexeddbStorage another name.'],
  QuotaExceededError: [
    'STORAGE_UNWRITABLE',
    'is full: the quota or the disk is used up. Nothing was written. Free some space, or call navigator.storage.persist().',
  ],
  SecurityError: [
    'STORAGE_UNREADABLE',
    'was blocked by the browser. Allow the site to store data, leave the sandboxed frame, or use memoryStorage().',
  ],
  VersionError: [
    'STORAGE_NEWER_VERSION',
    'was created by a newer release or another program. Reload the page, or give indexeddbStorage another name.',
  ],
}

const toStorageError = (cause: unknown, name: string) =>
  getErrorName(cause) === 'StorageError'
    ? cause
    : createDatabaseError(name, DESCRIPTION_BY_ERROR[getErrorName(cause)] ?? UNREACHABLE, cause)

const createDatabaseError = (name: string, [code, text]: ErrorDescription, cause?: unknown) =>
  createStorageError(code, `The IndexedDB database "${name}" ${text}`, cause)

const UNREACHABLE: ErrorDescription = [
  'STORAGE_UNREACHABLE',
  'could not be read or written. Try again, or restart the browser.',
]
const UNSUPPORTED: ErrorDescription = [
  'STORAGE_UNREADABLE',
  'only works in a browser page or worker. Use another storage here.',
]
const DELETED: ErrorDescription = [
  'STORAGE_MISSING',
  'was deleted while it was in use. To start with an empty one, reload the page or restart the worker.',
]
const LOCKED: ErrorDescription = [
  'STORAGE_LOCKED',
  `was locked by another tab for ${BLOCKED_TIMEOUT_MS / 1_000} s. Nothing was written. Reload the site's other tabs.`,
]
