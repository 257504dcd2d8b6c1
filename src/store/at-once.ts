import { isObject } from '../lib/json.ts'

/** What AES-256-GCM decrypts: the ciphertext ends with its tag of 16 bytes. */
export interface Ciphertext {
  iv: Uint8Array<ArrayBuffer>
  cipher: Uint8Array<ArrayBuffer>
  additionalData: Uint8Array<ArrayBuffer>
}

/** Cryptography without a promise. */
export interface AtOnce {
  /** Throws on a value that was changed. */
  decrypt(value: Ciphertext): Uint8Array
  /** HMAC-SHA-256, in hex. */
  digest(data: Uint8Array): string
}

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  createSecretKey(key: Uint8Array): object
  createDecipheriv(name: string, key: object, iv: Uint8Array, options: { authTagLength: number }): Decipher
  createHmac(name: string, key: object): Hmac
}

interface Decipher {
  setAAD(data: Uint8Array): unknown
  setAuthTag(tag: Uint8Array): unknown
  update(data: Uint8Array): Uint8Array
  final(): unknown
}

interface Hmac {
  update(data: Uint8Array): Hmac
  digest(encoding: 'hex'): string
}

const TAG_BYTES = 16

/**
 * Node's cryptography, `undefined` without it: Web Crypto there hands each value to another thread and back, which for short ones is nine
 * tenths of the work. Where only parts of it are there, its functions throw.
 */
export function cryptographyAtOnce(
  platformCrypto: unknown,
  keys: { data: Uint8Array; lookup: Uint8Array },
): AtOnce | undefined {
  if (!isObject(platformCrypto)) return undefined
  const { createSecretKey, createDecipheriv, createHmac } = platformCrypto as unknown as NodeCrypto // or else it throws
  let data: object
  let lookup: object
  try {
    data = createSecretKey(keys.data)
    lookup = createSecretKey(keys.lookup)
  } catch {
    return undefined
  }

  return {
    decrypt({ iv, cipher, additionalData }) {
      const decipher = createDecipheriv('aes-256-gcm', data, iv, { authTagLength: TAG_BYTES })
      decipher.setAAD(additionalData)
      decipher.setAuthTag(cipher.subarray(-TAG_BYTES))
      const plain = decipher.update(cipher.subarray(0, -TAG_BYTES))
      decipher.final() // it checks the tag
      return plain
    },

    digest: (bytes) => createHmac('sha256', lookup).update(bytes).digest('hex'),
  }
}
