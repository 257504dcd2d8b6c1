/**
 * A name of at most `maxLength` characters for a longer one: its beginning and a hash of it all, the same each time. Not for secrets.
 */
export function shortId(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const hash = fnv(text, 0x811c9dc5) + fnv(text, 0x9dc5811c)
  return `${text.slice(0, Math.max(0, maxLength - hash.length - 1))}-${hash}`.slice(-maxLength)
}

/** FNV-1a over UTF-16 units, 32 bits in hexadecimal. */
export function fnv(text: string, seed: number): string {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
