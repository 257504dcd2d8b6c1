/** Lower case, two digits a byte. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The standard alphabet, padded. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP) {
    const binary: string = Reflect.apply(String.fromCharCode, undefined, bytes.subarray(at, at + STEP))
    text += btoa(binary)
  }
  return text
}

/** A multiple of three, so that no padding falls inside, and no more arguments than any platform takes. */
const STEP = 24_576

/** The alphabet that is safe in URLs and headers, not padded. */
export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Throws on text that is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at) // `from` takes six times as long
  return bytes
}

/** From the platform's cryptographic source; at most 65,536. */
export const randomBytes = (length: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(length))
