/**
 * A number in [0, 2^32) that looks like chance and is the same everywhere for the same text: FNV-1a over UTF-16 units, then the final
 * mix of MurmurHash3. Not for secrets. Texts that share a hash do not share the one by another odd `factor`.
 */
export function hashOf(text: string, factor = 0x01000193): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), factor)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
