import type { CanonicalError } from '../canonical/errors.ts'
import { embeddedError, readVendorError } from '../embedded-error.ts'
import { kindOf } from '../vendor-error.ts'

/** The error in a chunk. */
export function streamError(error: unknown): CanonicalError {
  const { message, status } = embeddedError(error) ?? { message: 'The provider reported an error.', status: 502 }
  const { code } = readVendorError({ error })
  const kind = kindOf(status, message, code)
  return code === undefined ? { kind, status, message } : { kind, status, message, code }
}
