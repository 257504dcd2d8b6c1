/** Whether a text has the form of an account's ref. No id has. */
export const isAccountRef = (text: string): boolean => /^a_[a-z2-7]{26}$/.test(text)

/**
 * Whether a text can be the id of an account: 1 to 200 UTF-16 code units, well-formed, in Unicode's composed form (NFC), without control and format
 * characters, without blanks around it, and not in the form of a ref.
 */
export const isAccountId = (text: string): boolean =>
  text.length > 0 &&
  text.length <= MAX_ID_LENGTH &&
  !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text) &&
  text.trim() === text &&
  text.normalize('NFC') === text &&
  !isAccountRef(text)

const MAX_ID_LENGTH = 200
