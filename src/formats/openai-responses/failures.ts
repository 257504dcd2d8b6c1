import { areAll, isEnd, isNothing } from '../blank.ts'
import type { FailureReading } from '../format.ts'
import { typeOf } from '../openai-error-body.ts'
import { readVendorError } from '../read-vendor-error.ts'

export const responseFailures: FailureReading = {
  read: readVendorError,
  /** An error event holds what an error object does, but for the error's type; so does the error of a response. */
  bodyOf(error, status) {
    const { type, sequence_number: _, message, code = null, param = null, ...rest } = error
    const said = typeof type === 'string' && type !== 'error' ? type : typeOf(status)
    return { error: { message, type: said, param, code, ...rest } }
  },
  isBlank: ({ status, output }) =>
    isEnd(status, 'completed') && areAll(output, ({ type, content }) => type === 'message' && isNothing(content)),
}
