import type { RecordFields } from './record-fields.ts'
import { storedId, text, time } from './shapes.ts'

/** The fields of what is left of the value of a key that was replaced, under its digest: until then it opens the key as the new one does. */
export const formerKeyFields = {
  /** The id of the key. */
  id: { shape: storedId, isEssential: true, guard: 1 },
  /** What the key is filed under now. */
  to: { shape: text({ isFilled: true }), isEssential: true, guard: 1 },
  /** ISO 8601. */
  until: { shape: time, guard: 1 },
  /** The proof of the other fields (store/proofs.ts). */
  mac: { shape: text(), isOptional: true },
} as const satisfies RecordFields
