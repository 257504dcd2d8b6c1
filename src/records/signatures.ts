import type { JsonObject } from '../lib/json.ts'
import type { RecordFields } from '../types/records/record-fields.ts'
import type { Keyring } from './keyring.ts'

/**
 * Some fields determine which clients are admitted and where a credential is sent. They are bound to the secret, so a program that can only write to
 * the storage can't change them: keys, groups, and settings have a signature (`mac`), and a credential is encrypted for its destination (keyring.ts).
 * An attacker can still restore an earlier record with its signature: see docs/src/content/docs/concepts/security-model.md. A record is signed with
 * the lowest version that covers all of its signed fields. A new field therefore changes nothing for records without it, and releases that don't
 * know the field can still read them. A record with a signed field that its signature doesn't cover is treated as unsigned.
 */

type Signer = Pick<Keyring, 'sign' | 'verify'>

/** Signs and verifies one type of record. `context` is the record's storage key. */
interface Signatures<T> {
  sign(signer: Signer, context: string, record: T): Promise<string>
  verify(signer: Signer, context: string, record: T, mac: unknown): Promise<boolean>
}

/** Creates the functions that sign and verify records with these fields. */
export function createSignatures<T extends object>(fields: RecordFields): Signatures<T> {
  const signedFields = Object.entries(fields).filter(([, { signatureVersion }]) => signatureVersion !== undefined)
  const getVersion = (record: T) =>
    signedFields.reduce(
      (version, [name, { signatureVersion = 1 }]) =>
        Reflect.get(record, name) !== undefined ? Math.max(version, signatureVersion) : version,
      1,
    )

  function getSignedText(version: number, record: T): string {
    const values: JsonObject = version > 1 ? { version } : {}
    for (const [name, { signatureVersion = 1, missingValue, formerName = name }] of signedFields)
      if (signatureVersion <= version) values[formerName] = Reflect.get(record, name) ?? missingValue
    return JSON.stringify(values)
  }

  return {
    async sign(signer, context, record) {
      const version = getVersion(record)
      const mac = await signer.sign(context, getSignedText(version, record))
      return version === 1 ? mac : `${version}:${mac}`
    },
    async verify(signer, context, record, mac) {
      const version = getVersion(record)
      const prefix = version === 1 ? '' : `${version}:`
      if (typeof mac !== 'string' || !mac.startsWith(prefix)) return false
      return signer.verify(context, getSignedText(version, record), mac.slice(prefix.length))
    },
  }
}
