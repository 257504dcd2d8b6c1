import type { JsonObject } from '../../../lib/json.ts'
import type { TokenUsage } from '../../canonical/answer.ts'
import type { WireMetadata, WireWarning } from '../wire.ts'

/** What an answer says of itself beside its content. */
export interface ToldFacts {
  /** What of the request the target did not get, such as `dropped:seed`. */
  losses: readonly string[]
  /** What of the answer the client does not get. */
  lost: readonly string[]
  usage: TokenUsage | undefined
  /** Who has answered, after which attempts and at which cost. */
  describe?: ((usage: TokenUsage | undefined) => JsonObject) | undefined
}

/** What the translation of a request has lost, which the AI SDK shows in its own way. */
export const wireWarnings = (losses: readonly string[]): WireWarning[] =>
  losses.map((loss) => {
    const [change = '', ...path] = loss.split(':')
    return { type: 'unsupported', feature: path.join(':'), details: `The target does not take it: ${change}.` }
  })

/** Who has answered, after which attempts, at which cost, and what was lost of the request and of the answer. `more`: further members. */
export function wireFacts({ losses, lost, usage, describe }: ToldFacts, more: JsonObject = {}): WireMetadata {
  return { providerMetadata: { signalbox: { ...describe?.(usage), warnings: [...losses, ...lost], ...more } } }
}
