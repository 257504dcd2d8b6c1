const FNV_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Hashes UTF-16 units with FNV-1a. Returns a number in [0, 2^32), the same on every platform. Not for secrets. */
export function fnv(text: string, seed: number, factor = FNV_PRIME): number {
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), factor)
  return hash >>> 0
}

/** Like `fnv`, but with MurmurHash3's final mixing, for an even distribution. Strings that collide with one odd `factor` don't with another. */
export function hashText(text: string, factor = FNV_PRIME): number {
  let hash = fnv(text, FNV_BASIS, factor)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
