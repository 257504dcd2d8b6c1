import { areAll, isEnd, isNothing } from '../blank.ts'
import type { FailureReading } from '../format.ts'
import { readVendorError } from '../read-vendor-error.ts'

export const responseFailures: FailureReading = {
  read: readVendorError,
  /** An error event holds what an error object does. */
  bodyOf(error) {
    const { type, sequence_number: _, ...rest } = error
    return { error: type === 'error' ? rest : error }
  },
  isBlank: ({ status, output }) =>
    isEnd(status, 'completed') && areAll(output, ({ type, content }) => type === 'message' && isNothing(content)),
}
