/*
 * Replaces the parts of WebCrypto that a store uses, because real WebCrypto runs each job on a thread, which is too slow for thousands of histories.
 * The replacement encrypts nothing, but still rejects data that was changed, moved, or encrypted with another key.
 */

type Bytes = Uint8Array<ArrayBuffer>
interface Hkdf {
  salt: Bytes
  info: Bytes
}
interface Gcm {
  iv: Bytes
  additionalData: Bytes
}

const TAG = 16

/** Returns 32 bytes that differ if any part differs. */
function mix(...parts: readonly Bytes[]): Bytes {
  const state = Uint32Array.of(0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f)
  let [a = 0, b = 0, c = 0, d = 0] = state
  for (const part of parts) {
    a = (a + part.length) | 0
    for (const byte of part) {
      a = Math.imul(a ^ byte, 0x01000193)
      b = Math.imul(b ^ (byte + (a >>> 15)), 0x85ebca6b)
    }
    c = Math.imul(c ^ a, 0xc2b2ae35)
    d = Math.imul(d ^ b, 0x27d4eb2f)
  }
  const words = new Uint32Array(8)
  for (let index = 0; index < 8; index++) {
    a = Math.imul(a ^ (b >>> 13) ^ index, 0x5bd1e995)
    b = Math.imul(b ^ (a >>> 11) ^ c, 0x1b873593)
    c = Math.imul(c ^ (d >>> 12), 0xcc9e2d51)
    d = Math.imul(d ^ (c >>> 14) ^ a, 0x9e3779b1)
    words[index] = a ^ b ^ c ^ d
  }
  return new Uint8Array(words.buffer)
}

const getTag = (key: Bytes, { iv, additionalData }: Gcm, data: Bytes) =>
  mix(key, iv, additionalData, data).subarray(0, TAG)
const isSame = (item: Bytes, other: Bytes) =>
  item.length === other.length && item.every((byte, index) => byte === other[index])

const subtle = {
  importKey: async (_: string, key: Bytes) => new Uint8Array(key),
  digest: async (_: string, data: Bytes) => mix(data),
  sign: async (_: unknown, key: Bytes, data: Bytes) => mix(key, data),
  verify: async (_: unknown, key: Bytes, mac: Bytes, data: Bytes) => isSame(mix(key, data), mac),
  deriveBits: async ({ salt, info }: Hkdf, key: Bytes) => mix(key, salt, info),
  deriveKey: async ({ salt, info }: Hkdf, key: Bytes) => mix(key, salt, info),
  async encrypt(input: Gcm, key: Bytes, data: Bytes) {
    const sealed = new Uint8Array(data.length + TAG)
    sealed.set(data)
    sealed.set(getTag(key, input, data), data.length)
    return sealed
  },
  async decrypt(input: Gcm, key: Bytes, sealed: Bytes) {
    const data = sealed.slice(0, -TAG)
    if (!isSame(sealed.subarray(-TAG), getTag(key, input, data))) throw new Error('It was changed.')
    return data
  },
}

/** Runs work with this replacement for WebCrypto. */
export async function withQuickCrypto<T>(action: () => Promise<T>): Promise<T> {
  Object.defineProperty(crypto, 'subtle', { value: subtle, configurable: true })
  try {
    return await action()
  } finally {
    Reflect.deleteProperty(crypto, 'subtle')
  }
}
