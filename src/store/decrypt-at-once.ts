import { isObject } from '../lib/json.ts'

/** What AES-256-GCM decrypts: the ciphertext ends with its tag of 16 bytes. */
export interface Ciphertext {
  iv: Uint8Array<ArrayBuffer>
  cipher: Uint8Array<ArrayBuffer>
  additionalData: Uint8Array<ArrayBuffer>
}

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  createSecretKey(key: Uint8Array): object
  createDecipheriv(name: string, key: object, iv: Uint8Array, options: { authTagLength: number }): Decipher
}

interface Decipher {
  setAAD(data: Uint8Array): unknown
  setAuthTag(tag: Uint8Array): unknown
  update(data: Uint8Array): Uint8Array
  final(): unknown
}

const TAG_BYTES = 16

/**
 * Decrypts with Node's cryptography, at once: Web Crypto there hands each value to another thread, which for a short one is nine tenths of
 * the work. `undefined` without it. What is returned throws on a value that was changed.
 */
export function decryptionAtOnce(
  platformCrypto: unknown,
  key: Uint8Array,
): ((value: Ciphertext) => Uint8Array) | undefined {
  if (!isObject(platformCrypto)) return undefined
  const { createSecretKey, createDecipheriv } = platformCrypto as unknown as NodeCrypto // whatever else it is throws
  let secretKey: object
  try {
    secretKey = createSecretKey(key)
  } catch {
    return undefined
  }

  return ({ iv, cipher, additionalData }) => {
    const decipher = createDecipheriv('aes-256-gcm', secretKey, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(additionalData)
    decipher.setAuthTag(cipher.subarray(-TAG_BYTES))
    const plain = decipher.update(cipher.subarray(0, -TAG_BYTES))
    decipher.final() // it checks the tag
    return plain
  }
}
