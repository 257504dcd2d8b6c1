import { fnv } from '../../lib/hash.ts'

/**
 * A name of at most `maxLength` characters for a longer one: its beginning and a hash of it all, the same each time. Not for secrets.
 */
export function shortId(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const hash = hexHash(text, 0x811c9dc5) + hexHash(text, 0x9dc5811c)
  return `${text.slice(0, Math.max(0, maxLength - hash.length - 1))}-${hash}`.slice(-maxLength)
}

/** Eight hexadecimal digits. */
export const hexHash = (text: string, seed: number): string => fnv(text, seed).toString(16).padStart(8, '0')
