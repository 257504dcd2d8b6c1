import { fnv } from '../../lib/hash.ts'

/** Makes each id unique, also among those `taken`: `a`, then `a_2`. In linear time, since clients choose the ids. */
export function createUniqueIds(taken: Iterable<string> = []): (id: string) => string {
  const seen = new Set(taken)
  const counts = new Map<string, number>() // by id: where the search for a free suffix begins
  return (id) => {
    let found = id
    for (let count = counts.get(id) ?? 2; seen.has(found); count++) {
      found = `${id}_${count}`
      counts.set(id, count + 1)
    }
    seen.add(found)
    return found
  }
}

/**
 * Shortens a name to `maxLength` characters: its beginning and a hash of the whole, the same each time. Not for secrets.
 */
export function shortId(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const hash = hexHash(text, 0x811c9dc5) + hexHash(text, 0x9dc5811c)
  return `${text.slice(0, Math.max(0, maxLength - hash.length - 1))}-${hash}`.slice(-maxLength)
}

/** Eight hexadecimal digits. */
export const hexHash = (text: string, seed: number): string => fnv(text, seed).toString(16).padStart(8, '0')
