import type { JsonObject } from '../../../../lib/json.ts'
import type { TokenUsage } from '../../canonical/canonical-response.ts'
import type { WireMetadata, WireWarning } from '../ai-sdk-wire.ts'

/** Details about a response beyond its content. */
export interface ResponseMetadata {
  /** The parts of the request that the target didn't receive, such as `dropped:seed`. */
  droppedFields: readonly string[]
  /** The parts of the response that the client doesn't receive. */
  responseDroppedFields: readonly string[]
  usage: TokenUsage | undefined
  /** Describes the response: its target, the earlier attempts, and the cost. */
  describe?: ((usage: TokenUsage | undefined) => JsonObject) | undefined
}

/** Writes the fields that a request's translation dropped as AI SDK warnings. */
export const writeWarnings = (droppedFields: readonly string[]): WireWarning[] =>
  droppedFields.map((warning) => {
    const [change = '', ...path] = warning.split(':')
    return { type: 'unsupported', feature: path.join(':'), details: `The target does not support it: ${change}.` }
  })

/**
 * Writes metadata about a response: its target, the earlier attempts, the cost, and the fields dropped in translation. `extra` contains additional
 * fields.
 */
export function writeSignalboxMetadata(
  { droppedFields, responseDroppedFields, usage, describe }: ResponseMetadata,
  extra: JsonObject = {},
): WireMetadata {
  return {
    providerMetadata: {
      signalbox: { ...describe?.(usage), warnings: [...droppedFields, ...responseDroppedFields], ...extra },
    },
  }
}
