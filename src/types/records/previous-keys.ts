import type { RecordFields } from './record-fields.ts'
import { storedId, text, time } from './shapes.ts'

/** The fields of a key's previous value, stored under the value's digest. The value works until the given time. */
export const previousKeyFields = {
  /** The key's ID. */
  id: { shape: storedId, isEssential: true, signatureVersion: 1 },
  /** The key's current digest. */
  to: { shape: text({ isNonEmpty: true }), isEssential: true, signatureVersion: 1 },
  /** ISO 8601. */
  until: { shape: time, signatureVersion: 1 },
  /** The signature of the other fields (records/signatures.ts). */
  mac: { shape: text(), isOptional: true },
} as const satisfies RecordFields
