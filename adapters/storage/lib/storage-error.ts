/** The codes of storage errors: `error.code` of every error that a storage adapter throws on purpose. */
export type StorageErrorCode =
  | 'STORAGE_CLOSED'
  | 'STORAGE_CORRUPT'
  | 'STORAGE_LOCKED'
  | 'STORAGE_MISSING'
  | 'STORAGE_NEWER_VERSION'
  | 'STORAGE_NOT_A_NUMBER'
  | 'STORAGE_NOT_TEXT'
  | 'STORAGE_SECRET_INVALID'
  | 'STORAGE_SECRET_MISSING'
  | 'STORAGE_TOO_LARGE'
  | 'STORAGE_UNREACHABLE'
  | 'STORAGE_UNREADABLE'
  | 'STORAGE_UNSUPPORTED'
  | 'STORAGE_UNWRITABLE'

/** A storage adapter's error. Its message states which store failed, why, and what to do; it never contains a value. */
export interface StorageError extends Error {
  readonly code: StorageErrorCode
}

/** Creates a storage error. */
export function createStorageError(code: StorageErrorCode, message: string, cause?: unknown): StorageError {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { name: 'StorageError', code })
}
