import type { GatewayError } from '../../errors.ts'
import { createAmbiguityError } from './ambiguity.ts'
import { createDetourError, type RestrictedCall } from './detours.ts'

/**
 * Creates the rule that checks the request bodies of callers with model restrictions, token limits, or dollar limits. It returns an error if the body
 * could bypass the restrictions. It is called for each target but checks the body only once.
 */
export function createBodyRule(): (call: RestrictedCall) => GatewayError | undefined {
  let cachedResult: { error: GatewayError | undefined } | undefined
  return (call) => {
    cachedResult ??= { error: createDetourError(call) ?? createAmbiguityError(call) }
    return cachedResult.error
  }
}
