import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { createAmbiguityError } from './ambiguity.ts'
import { createDetourError } from './detours.ts'

/**
 * Creates the rule for request bodies of callers with model restrictions, token limits, or dollar limits. The rule returns an error if the body would
 * evade them. It runs for each target, but reads the body only once.
 */
export function createBodyRule(): (call: { body: JsonObject; text: string }) => GatewayError | undefined {
  let found: { error: GatewayError | undefined } | undefined
  return (call) => {
    found ??= { error: createDetourError(call.body) ?? createAmbiguityError(call) }
    return found.error
  }
}
