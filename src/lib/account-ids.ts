/** Returns whether a string has the form of an account's ref, which no ID can have. */
export const isAccountRef = (text: string): boolean => /^a_[a-z2-7]{26}$/.test(text)

/**
 * Returns whether a string is a valid account ID: 1 to 200 UTF-16 code units, well-formed, in Unicode's composed form (NFC), without control and
 * format characters, without surrounding whitespace, and not in the form of a ref.
 */
export const isAccountId = (text: string): boolean =>
  text.length > 0 &&
  text.length <= MAX_ID_LENGTH &&
  !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text) &&
  text.trim() === text &&
  text.normalize('NFC') === text &&
  !isAccountRef(text)

const MAX_ID_LENGTH = 200
