import { fnv } from '../../../lib/hash.ts'

/** Makes each ID unique, including among `usedIds`: `a`, then `a_2`. Takes linear time, so clients, which choose the IDs, can't slow it down. */
export function createUniqueIds(usedIds: Iterable<string> = []): (id: string) => string {
  const used = new Set(usedIds)
  const counts = new Map<string, number>() // where to start searching for a free suffix, by ID
  return (id) => {
    let found = id
    for (let count = counts.get(id) ?? 2; used.has(found); count++) {
      found = `${id}_${count}`
      counts.set(id, count + 1)
    }
    used.add(found)
    return found
  }
}

/** Shortens a name to `maxLength` characters: its beginning and a hash of the entire name. The result is deterministic. Don't use it for secrets. */
export function shortenId(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const hash = hashToHex(text, 0x811c9dc5) + hashToHex(text, 0x9dc5811c)
  return `${text.slice(0, Math.max(0, maxLength - hash.length - 1))}-${hash}`.slice(-maxLength)
}

/** Returns eight hexadecimal digits. */
export const hashToHex = (text: string, seed: number): string => fnv(text, seed).toString(16).padStart(8, '0')
