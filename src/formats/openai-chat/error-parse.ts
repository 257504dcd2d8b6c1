import type { CanonicalError } from '../canonical/errors.ts'
import { kindOf, parseEmbeddedError } from '../vendor-error.ts'

/** The error in a chunk. */
export function streamError(error: unknown): CanonicalError {
  const found = parseEmbeddedError(error)
  return { kind: kindOf(found.status, found.message, found.code), ...found }
}
