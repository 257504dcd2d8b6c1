import { isObject } from '../../lib/json.ts'
import { areAll, isEnd, isNothing } from '../blank.ts'
import type { FailureReading } from '../format.ts'
import { readVendorError } from '../read-vendor-error.ts'

export const geminiFailures: FailureReading = {
  /** The code is the status name, since Google's own code is the number of the status. */
  read(body) {
    const envelope: unknown = Array.isArray(body) ? body[0] : body
    const error = isObject(envelope) && isObject(envelope.error) ? envelope.error : undefined
    return { ...readVendorError(body), ...(typeof error?.status === 'string' && { code: error.status }) }
  },
  bodyOf: (error) => ({ error }),
  isBlank: ({ candidates }) =>
    Array.isArray(candidates) &&
    candidates.length > 0 &&
    areAll(candidates, ({ finishReason, content }) => isEnd(finishReason, 'STOP') && isNothing(content)),
}
