import type { JsonObject } from '../lib/json.ts'
import type { RecordFields } from '../types/records/fields.ts'

/*
 * Some fields decide which clients are let in, and where a credential is sent. Each is bound to the secret, so that a program which can only
 * write to the storage cannot change it: keys and settings carry a proof (`mac`), a credential is sealed for its place (vault.ts). An earlier
 * record with its proof can be put back: see SECURITY.md.
 *
 * A proof has a version. That of a record is the lowest one that covers every guarded field which the record has, so that a field which is
 * added changes nothing for records without it, and releases that do not know the field open them as before. A record that has a guarded
 * field which its proof does not cover is not proven.
 */

/** What proves: a vault. */
interface Prover {
  sign(place: string, text: string): Promise<string>
  verify(place: string, text: string, mac: unknown): Promise<boolean>
}

/** Makes and checks the proofs of one kind of record. */
interface Proofs<T> {
  /** The proof of a record at its place in the storage. */
  of(prover: Prover, place: string, record: T): Promise<string>
  /** Is `mac` the proof of the record at that place? */
  areRight(prover: Prover, place: string, record: T, mac: unknown): Promise<boolean>
}

/** The proofs of records with these fields. */
export function createProofs<T extends object>(fields: RecordFields): Proofs<T> {
  const guarded = Object.entries(fields).filter(([, { guard }]) => guard !== undefined)
  const versionOf = (record: T) =>
    guarded.reduce(
      (version, [name, { guard = 1 }]) => (valueIn(record, name) !== undefined ? Math.max(version, guard) : version),
      1,
    )

  /** What a version covers, in the order of the fields. */
  function guardedText(version: number, record: T): string {
    const text: JsonObject = version > 1 ? { version } : {}
    for (const [name, { guard = 1, absent }] of guarded)
      if (guard <= version) text[name] = valueIn(record, name) ?? absent
    return JSON.stringify(text)
  }

  return {
    async of(prover, place, record) {
      const version = versionOf(record)
      const code = await prover.sign(place, guardedText(version, record))
      return version === 1 ? code : `${version}:${code}`
    },
    async areRight(prover, place, record, mac) {
      const version = versionOf(record)
      const prefix = version === 1 ? '' : `${version}:`
      if (typeof mac !== 'string' || !mac.startsWith(prefix)) return false
      return prover.verify(place, guardedText(version, record), mac.slice(prefix.length))
    },
  }
}

const valueIn = (record: object, name: string): unknown => Reflect.get(record, name)
