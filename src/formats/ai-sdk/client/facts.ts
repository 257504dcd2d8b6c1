import type { JsonObject } from '../../../lib/json.ts'
import type { TokenUsage } from '../../canonical/answer.ts'
import type { WireMetadata, WireWarning } from '../wire.ts'

/** The facts of an answer beside its content. */
export interface ToldFacts {
  /** The parts of the request that the target did not get, such as `dropped:seed`. */
  losses: readonly string[]
  /** The parts of the answer that the client does not get. */
  lost: readonly string[]
  usage: TokenUsage | undefined
  /** A description of the answer: the target that answered, the earlier attempts, and the cost. */
  describe?: ((usage: TokenUsage | undefined) => JsonObject) | undefined
}

/** The losses of a request's translation, as warnings of the AI SDK. */
export const wireWarnings = (losses: readonly string[]): WireWarning[] =>
  losses.map((loss) => {
    const [change = '', ...path] = loss.split(':')
    return { type: 'unsupported', feature: path.join(':'), details: `The target does not take it: ${change}.` }
  })

/**
 * A description of the answer: the target that answered, the earlier attempts, the cost, and what the translation of the request and of the answer
 * lost. `more`: further members.
 */
export function wireFacts({ losses, lost, usage, describe }: ToldFacts, more: JsonObject = {}): WireMetadata {
  return { providerMetadata: { signalbox: { ...describe?.(usage), warnings: [...losses, ...lost], ...more } } }
}
