import { gatewayError } from '../../errors.ts'
import { isUnsafelyDeep, MAX_DEPTH } from '../../lib/json.ts'

/** Refuses JSON of a provider's answer. */
export function refuseDeepAnswer(): never {
  throw gatewayError('UPSTREAM_INVALID', {
    message: `The provider sent JSON that nests deeper than ${MAX_DEPTH} levels.`,
  })
}

/** Returns the JSON text of an answer, or of one of its events, unless it nests so deep that it cannot be written again. */
export const notTooDeep = (text: string): string => (isUnsafelyDeep(text) ? refuseDeepAnswer() : text)
