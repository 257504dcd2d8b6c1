import { areAll, isEnd, isNothing } from '../blank.ts'
import type { FailureReading } from '../format.ts'
import { readVendorError } from '../read-vendor-error.ts'

export const chatFailures: FailureReading = {
  read: readVendorError,
  bodyOf: (error) => ({ error }),
  isBlank: ({ choices }) =>
    areAll(
      choices,
      (choice) => isEnd(choice.finish_reason, 'stop') && !('text' in choice) && isNothing(choice.message),
    ),
}
