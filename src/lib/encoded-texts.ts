/**
 * The text with `[credential]` in place of each word that holds a secret in base64 (either alphabet), in hexadecimal or percent-encoded, also
 * where the encoded text begins within the word. `isSecret` is asked about decoded texts. Takes linear time; a text of more than 1 MiB is
 * returned as it is.
 */
export function withoutEncoded(text: string, isSecret: (decoded: string) => boolean): string {
  if (text.length > MAX_LENGTH) return text
  return text.replace(WORD, (word) => (mayBeEncoded(word) && holds(word, isSecret) ? '[credential]' : word))
}

const MAX_LENGTH = 1024 * 1024

/** Eight characters, as the shortest secret has, take eleven in base64. */
const WORD = /[A-Za-z0-9+/_=~.%-]{11,}/g

/** Words of a language have no digits, and capitals only in front. */
const mayBeEncoded = (word: string) => /[0-9%+/_]|[a-z][A-Z]/.test(word)

function holds(word: string, isSecret: (decoded: string) => boolean): boolean {
  if (word.includes('%')) {
    const decoded = word.replace(/%([0-9a-f]{2})/gi, (_, byte: string) => fromHexByte(byte))
    if (isSecret(decoded)) return true
    if (decoded !== word && (decoded.match(WORD) ?? []).some((one) => holds(one, isSecret))) return true
  }
  return (
    (word.match(BASE64) ?? []).some((run) => [0, 1, 2, 3].some((from) => isSecret(fromBase64At(run, from)))) ||
    (word.match(HEX) ?? []).some((run) => [0, 1].some((from) => isSecret(fromHexAt(run, from))))
  )
}

const BASE64 = /[A-Za-z0-9+/_-]{11,}/g
const HEX = /[0-9a-f]{16,}/gi

/** The bytes that the run encodes from one of its characters on, as characters. */
function fromBase64At(run: string, from: number): string {
  const digits = run.slice(from).replaceAll('-', '+').replaceAll('_', '/')
  return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits)
}

const fromHexAt = (run: string, from: number): string =>
  run.slice(from, run.length - ((run.length - from) % 2)).replace(/../g, fromHexByte)

const fromHexByte = (byte: string) => String.fromCharCode(Number.parseInt(byte, 16))
