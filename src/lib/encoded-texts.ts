/**
 * Replaces each word that contains an encoded secret with `[credential]`. Recognizes base64 (either alphabet), hex, and percent-encoding, even if the
 * encoded part starts within the word. Calls `isSecret` with decoded text. Runs in linear time. Returns text over 1 MiB unchanged.
 */
export function redactEncoded(text: string, isSecret: (decoded: string) => boolean): string {
  if (text.length > MAX_LENGTH) return text
  return text.replace(ENCODED_WORD, (word) =>
    mayBeEncoded(word) && containsSecretWord(word, isSecret) ? '[credential]' : word,
  )
}

const MAX_LENGTH = 1024 * 1024

/** The shortest secret has 8 characters, which take 11 in base64. */
const ENCODED_WORD = /[A-Za-z0-9+/_=~.%-]{11,}/g

/** Natural words have no digits, and capitals only at the start. */
const mayBeEncoded = (word: string) => /[0-9%+/_]|[a-z][A-Z]/.test(word)

function containsSecretWord(word: string, isSecret: (decoded: string) => boolean): boolean {
  if (word.includes('%')) {
    const decoded = word.replace(/%([0-9a-f]{2})/gi, (_, byte: string) => fromHexByte(byte))
    if (isSecret(decoded)) return true
    if (
      decoded !== word &&
      (decoded.match(ENCODED_WORD) ?? []).some((nestedWord) => containsSecretWord(nestedWord, isSecret))
    )
      return true
  }
  return (
    (word.match(BASE64_PATTERN) ?? []).some((run) =>
      [0, 1, 2, 3].some((start) => isSecret(decodeBase64Run(run, start))),
    ) || (word.match(HEX_PATTERN) ?? []).some((run) => [0, 1].some((start) => isSecret(decodeHex(run, start))))
  )
}

const BASE64_PATTERN = /[A-Za-z0-9+/_-]{11,}/g
const HEX_PATTERN = /[0-9a-f]{16,}/gi

function decodeBase64Run(run: string, start: number): string {
  const digits = run.slice(start).replaceAll('-', '+').replaceAll('_', '/')
  return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits)
}

const decodeHex = (run: string, start: number): string =>
  run.slice(start, run.length - ((run.length - start) % 2)).replace(/../g, fromHexByte)

const fromHexByte = (byte: string) => String.fromCharCode(Number.parseInt(byte, 16))
