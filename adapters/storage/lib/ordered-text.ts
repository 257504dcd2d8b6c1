/*
 * Keys are listed in the order of UTF-16 code units, like `<` on strings. Databases order the bytes of UTF-8, where U+E000 to U+FFFF come before all
 * characters with two code units. The escapes below convert one order to the other: escaped keys in byte order are in the contract's order, and the
 * escaped form of a prefix is a prefix of the escaped key.
 */

const ESCAPED_PATTERN = /[\uE000-\uFFFF\u{10FFFE}\u{10FFFF}]/gu
const WRITTEN_PATTERN = /\u{10FFFE}([ab])|\u{10FFFF}([\uE000-\uFFFF])/gu

/** Escapes a key, so a database that orders UTF-8 bytes uses the order that the contract requires. */
export const toOrdered = (key: string): string =>
  key.replace(ESCAPED_PATTERN, (char) => {
    if (char === '\u{10FFFE}') return '\u{10FFFE}a'
    return char === '\u{10FFFF}' ? '\u{10FFFE}b' : `\u{10FFFF}${char}`
  })

/** Returns the key for an escaped string. */
export const fromOrdered = (text: string): string =>
  text.replace(
    WRITTEN_PATTERN,
    (_, last?: string, above?: string) => above ?? (last === 'a' ? '\u{10FFFE}' : '\u{10FFFF}'),
  )

/** Returns a string greater than every escaped string that starts with `prefix`, which must also be escaped. */
export const getUpperBound = (prefix: string): string => `${prefix}\u{10FFFF}\u{10FFFF}`
