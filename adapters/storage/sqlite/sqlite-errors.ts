import { createStorageError, type StorageErrorCode } from '../lib/storage-error.ts'
import { sleep } from '../lib/wait.ts'

/** The primary result codes that lead to different errors: https://sqlite.org/rescode.html */
const RESULT_CODES = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  notADatabase: 26,
} as const

/** Extended result codes: a read returned too few bytes; the database file was moved. */
const SHORT_READ_CODE = 522
const MOVED_CODE = 1032
/** Extended result codes for failed reads. */
const READ_ERROR_CODES: readonly number[] = [266, SHORT_READ_CODE, 6922, 7178, 7434]

/** Returns SQLite's result code: `errcode` in Node and Deno, `errno` in Bun. */
function getResultCode(cause: unknown): number | undefined {
  const { errcode, errno } = Object(cause)
  if (typeof errcode === 'number') return errcode
  return typeof errno === 'number' && cause instanceof Error && cause.name === 'SQLiteError' ? errno : undefined
}

/** Returns whether the error comes from SQLite itself. */
export const isSqliteError = (cause: unknown): boolean => getResultCode(cause) !== undefined

/** Returns whether a statement can't run until another connection releases a lock, or until the app ends a transaction on this connection. */
export function isBusy(cause: unknown): boolean {
  const code = getResultCode(cause)
  if (
    code !== undefined &&
    [RESULT_CODES.busy, RESULT_CODES.locked, RESULT_CODES.protocol].some((busyCode) => busyCode === (code & 0xff))
  )
    return true
  if (!(cause instanceof Error)) return false
  return /SQLITE_BUSY|database (?:table )?is locked|(?:within|inside) a transaction/i.test(
    `${cause.message} ${Reflect.get(cause, 'code')}`,
  )
}

/** Returns whether SQLite can't interpret a statement or the file. Our statements are valid, so the file must be damaged. */
export const isRejected = (cause: unknown): boolean => getResultCode(cause) === RESULT_CODES.error && !isBusy(cause)

/** Returns the storage code for an SQLite error, with a short reason. */
export function explainSqliteError(cause: unknown): { code: StorageErrorCode; reason: string } {
  const code = getResultCode(cause)
  const text = cause instanceof Error ? cause.message : String(cause)
  const primary = code === undefined ? undefined : code & 0xff
  if (code === MOVED_CODE) return { code: 'STORAGE_MISSING', reason: 'it was moved' }
  if (primary === RESULT_CODES.corrupt || primary === RESULT_CODES.notADatabase || code === SHORT_READ_CODE)
    return { code: 'STORAGE_CORRUPT', reason: text }
  if (primary === RESULT_CODES.full) return { code: 'STORAGE_UNWRITABLE', reason: 'the disk is full' }
  if (primary === RESULT_CODES.readOnly) return { code: 'STORAGE_UNWRITABLE', reason: text }
  if (primary === RESULT_CODES.ioError)
    return {
      code: READ_ERROR_CODES.some((readCode) => readCode === code) ? 'STORAGE_UNREADABLE' : 'STORAGE_UNWRITABLE',
      reason: text,
    }
  return { code: 'STORAGE_UNREADABLE', reason: text }
}

/** Maximum pause between two attempts to acquire a lock, in ms. */
export const MAX_PAUSE_MS = 5

/** How long an operation waits for another process's lock. */
export interface LockWait {
  /** The store's name in messages. */
  name: string
  timeoutMs: number
  /** Converts an SQLite error to the error to throw. Default: the same error. */
  toError?(cause: unknown): unknown
}

/** Retries `work` while another connection holds a lock that it needs. Throws `STORAGE_LOCKED` after `timeoutMs`. */
export async function retryWhileBusy<T>(
  work: () => T | Promise<T>,
  { name, timeoutMs, toError = (cause) => cause }: LockWait,
): Promise<T> {
  for (const until = performance.now() + timeoutMs; ; await sleep(Math.random() * MAX_PAUSE_MS)) {
    try {
      return await work()
    } catch (cause) {
      if (!isBusy(cause)) throw toError(cause)
      if (performance.now() > until) throw createLockedError(name, timeoutMs, cause)
    }
  }
}

/** Creates the `STORAGE_LOCKED` error for a lock that another process held for too long. */
export const createLockedError = (store: string, ms: number, cause?: unknown): Error =>
  createStorageError(
    'STORAGE_LOCKED',
    `Another process held the lock of ${store} for ${ms / 1_000} s. Nothing was written. Try again.`,
    cause,
  )
