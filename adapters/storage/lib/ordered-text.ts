/*
 * Keys are listed in the order of UTF-16 code units, that of `<` on strings. Databases order the bytes of UTF-8, in which U+E000 to U+FFFF
 * come before all characters of two code units. The escapes below turn one order into the other: escaped keys in the order of their bytes are
 * in the order of the contract, and the escaped form of a prefix is a prefix of the escaped key.
 */

const ESCAPED = /[\uE000-\uFFFF\u{10FFFE}\u{10FFFF}]/gu
const WRITTEN = /\u{10FFFE}([ab])|\u{10FFFF}([\uE000-\uFFFF])/gu

/** The escaped form of a key, whose UTF-8 bytes a database orders as the contract demands. */
export const toOrdered = (key: string): string =>
  key.replace(ESCAPED, (char) => {
    if (char === '\u{10FFFE}') return '\u{10FFFE}a'
    return char === '\u{10FFFF}' ? '\u{10FFFE}b' : `\u{10FFFF}${char}`
  })

/** The key of an escaped text. */
export const fromOrdered = (text: string): string =>
  text.replace(WRITTEN, (_, last?: string, above?: string) => above ?? (last === 'a' ? '\u{10FFFE}' : '\u{10FFFF}'))

/** Greater than every escaped text that begins with `prefix`, an escaped text itself. */
export const getUpperBound = (prefix: string): string => `${prefix}\u{10FFFF}\u{10FFFF}`
