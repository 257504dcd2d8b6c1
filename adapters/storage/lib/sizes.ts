import { storageError } from './error.ts'

/** What a storage can hold; in bytes of UTF-8. */
export interface Sizes {
  /** Its name at the start of messages. */
  store: string
  largestValueBytes: number
  longestKeyBytes: number
  /** Can it hold NUL? */
  hasNul: boolean
}

/** Throws `STORAGE_TOO_LARGE` or `STORAGE_NOT_TEXT` for what the storage cannot hold exactly. */
export function checkSizes(
  key: string,
  value: string,
  { store, largestValueBytes, longestKeyBytes, hasNul }: Sizes,
): void {
  const tooLarge = (what: string, limit: number) =>
    storageError('STORAGE_TOO_LARGE', `${store} takes a ${what} of ${limit} bytes at most: "${key.slice(0, 100)}".`)
  if (bytesOf(key, longestKeyBytes) > longestKeyBytes) throw tooLarge('key', longestKeyBytes)
  if (bytesOf(value, largestValueBytes) > largestValueBytes) throw tooLarge('value', largestValueBytes)
  for (const text of [key, value])
    if (HALF_PAIR.test(text) || (!hasNul && text.includes('\u0000')))
      throw storageError(
        'STORAGE_NOT_TEXT',
        `${store} cannot keep NUL or half a surrogate pair: "${key.slice(0, 100)}".`,
      )
}

const HALF_PAIR = /\p{Surrogate}/u

/** Counts only where it is near the limit: a code unit has three bytes at most. */
const bytesOf = (text: string, limit: number) => (text.length * 3 <= limit ? 0 : new TextEncoder().encode(text).length)
