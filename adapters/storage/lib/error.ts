/** What can go wrong with a store, by name: `error.code` of everything that a storage adapter throws on purpose. */
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
  | 'STORAGE_UNWRITABLE'

/** An error of a storage adapter. Its message says what lies where and what to do about it; it never holds a value. */
export interface StorageError extends Error {
  readonly code: StorageErrorCode
}

/** Makes an error to throw. */
export function storageError(code: StorageErrorCode, message: string, cause?: unknown): StorageError {
  return Object.assign(new Error(message, cause === undefined ? {} : { cause }), { name: 'StorageError', code })
}
