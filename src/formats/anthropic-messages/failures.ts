import { isEnd, isNothing } from '../blank.ts'
import type { FailureReading } from '../format.ts'
import { readVendorError } from '../read-vendor-error.ts'

export const messageFailures: FailureReading = {
  read: readVendorError,
  bodyOf: (error) => ({ type: 'error', error }),
  isBlank: ({ stop_reason: reason, content }) => isEnd(reason, 'end_turn') && isNothing(content),
}
