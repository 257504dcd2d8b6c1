import type { GatewayError } from '../../errors.ts'
import { createAmbiguityError } from './ambiguity.ts'
import { createDetourError, type RestrictedCall } from './detours.ts'

/**
 * Creates the rule for request bodies of callers with model restrictions, token limits, or dollar limits. The rule returns an error if the body would
 * evade them. It runs for each target, but reads the body only once.
 */
export function createBodyRule(): (call: RestrictedCall) => GatewayError | undefined {
  let found: { error: GatewayError | undefined } | undefined
  return (call) => {
    found ??= { error: createDetourError(call) ?? createAmbiguityError(call) }
    return found.error
  }
}
