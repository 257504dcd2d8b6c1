/** Offsets of a text in UTF-16 units, as everywhere else, and in bytes of UTF-8, as Google counts. */
export interface Offsets {
  bytesAt(unit: number): number
  /** The unit that an offset in bytes falls on; within a character, its beginning. */
  unitAt(bytes: number): number
}

/** Made once for a text, whatever the number of its citations. */
export function offsetsOf(text: string): Offsets {
  const starts = new Uint32Array(text.length + 1) // bytes before each unit
  let bytes = 0
  for (let unit = 0; unit < text.length; unit++) {
    starts[unit] = bytes
    const code = text.charCodeAt(unit)
    if (isHigh(code) && isLow(text.charCodeAt(unit + 1))) {
      starts[++unit] = bytes
      bytes += 4
    } else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  starts[text.length] = bytes
  return {
    bytesAt: (unit) => starts[Math.max(0, Math.min(unit, text.length))] ?? bytes,
    unitAt(offset) {
      let low = 0
      let high = text.length
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((starts[middle] ?? bytes) <= offset) low = middle
        else high = middle - 1
      }
      return isLow(text.charCodeAt(low)) ? low - 1 : low
    },
  }
}

const isHigh = (code: number) => code >= 0xd800 && code < 0xdc00
const isLow = (code: number) => code >= 0xdc00 && code < 0xe000
