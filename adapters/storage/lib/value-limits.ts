import { createStorageError } from './storage-error.ts'

/** A store's size limits, in bytes of UTF-8. */
export interface Sizes {
  /** The store's name, which messages start with. */
  store: string
  largestValueBytes: number
  longestKeyBytes: number
  /** Whether strings with NUL are rejected. */
  lacksNul?: boolean
}

/** Throws `STORAGE_TOO_LARGE` or `STORAGE_NOT_TEXT` for a key or value that the storage can't store exactly, and a RangeError like `checkTtl`. */
export function checkWrite(
  key: string,
  value: string,
  ttlMs: number | undefined,
  { store, largestValueBytes, longestKeyBytes, lacksNul }: Sizes,
): void {
  const name = key.slice(0, 100)
  const check = (part: string, text: string, limit: number) => {
    const isNear = text.length * 3 > limit // a code unit takes at most three bytes, so this check can skip short strings
    if (isNear && new TextEncoder().encode(text).length > limit)
      throw createStorageError('STORAGE_TOO_LARGE', `${store} limits a ${part} to ${limit} bytes: "${name}".`)
    if (SURROGATE_PATTERN.test(text) || (lacksNul && text.includes('\u0000')))
      throw createStorageError(
        'STORAGE_NOT_TEXT',
        `${store} may not support NUL or unpaired surrogates. Escape them in "${name}".`,
      )
  }
  check('key', key, longestKeyBytes)
  check('value', value, largestValueBytes)
  checkTtl(ttlMs)
}

/** Throws a RangeError for a `ttlMs` that the `Storage` contract doesn't allow. */
export function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs !== undefined && !(ttlMs >= 1 && ttlMs <= 1e12)) throw new RangeError('ttlMs must be from 1 to 1e12.')
}

const SURROGATE_PATTERN = /\p{Surrogate}/u
