/**
 * May these events contain an error: do the bytes contain `"error"` or `event: error`? (Within a text the quotes would be escaped.)
 * Searching every second byte for one half of the double "r" takes a fifth of the time of searching for whole words.
 */
export function maySpeakOfErrors(bytes: Uint8Array): boolean {
  for (let at = 1; at < bytes.length; at += 2) {
    if (bytes[at] !== R) continue
    const first = bytes[at - 1] === R ? at - 1 : at
    if (bytes[first + 1] === R && bytes[first - 1] === E && bytes[first + 2] === O && bytes[first + 3] === R) {
      const before = bytes[first - 2]
      if (before === QUOTE ? bytes[first + 4] === QUOTE : before === COLON || bytes[first - 3] === COLON) return true
    }
  }
  return false
}

const R = 0x72
const E = 0x65
const O = 0x6f
const QUOTE = 0x22
const COLON = 0x3a
