import { fnv } from '../../../lib/hash.ts'

/** Makes each ID unique, including among `usedIds`: `a`, then `a_2`. Takes linear time, so clients, which choose the IDs, can't slow it down. */
export function createUniqueIds(usedIds: Iterable<string> = []): (id: string) => string {
  const takenIds = new Set(usedIds)
  const nextSuffixes = new Map<string, number>() // where to start searching for a free suffix, by ID
  return (id) => {
    let candidate = id
    for (let suffix = nextSuffixes.get(id) ?? 2; takenIds.has(candidate); suffix++) {
      candidate = `${id}_${suffix}`
      nextSuffixes.set(id, suffix + 1)
    }
    takenIds.add(candidate)
    return candidate
  }
}

/** Shortens a name to `maxLength` characters: its beginning and a hash of the entire name. The result is deterministic. Don't use it for secrets. */
export function shortenId(id: string, maxLength: number): string {
  if (id.length <= maxLength) return id
  const hash = hashToHex(id, 0x811c9dc5) + hashToHex(id, 0x9dc5811c)
  return `${id.slice(0, Math.max(0, maxLength - hash.length - 1))}-${hash}`.slice(-maxLength)
}

/** Returns eight hexadecimal digits. */
export const hashToHex = (text: string, seed: number): string => fnv(text, seed).toString(16).padStart(8, '0')
