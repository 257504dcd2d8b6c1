import { countStreamTokens } from '../../pricing/content-tokens.ts'
import type { RelayedStream } from '../codec/relay.ts'
import type { OutputAllowance } from '../steps.ts'

/**
 * Wraps the stream so that it requests more output before it exceeds its allowance. `names` contains the event fields with the model's output. If it
 * may not continue, it ends with an error event, unless the provider has already sent everything.
 */
export function limitToAllowance(
  stream: RelayedStream,
  { tokens, extend }: OutputAllowance,
  names: readonly string[],
): RelayedStream {
  let allowed = tokens
  let outputSize = 0
  let isRefused = false
  return {
    async next() {
      const piece = await stream.next()
      if (!piece || isRefused) return piece
      outputSize += countStreamTokens(piece, names)
      if (outputSize <= allowed) return piece
      try {
        allowed = await extend(outputSize)
        return piece
      } catch (error) {
        isRefused = true
        stream.fail(error)
        return (await stream.next()) ?? piece
      }
    },
    fail: (error) => stream.fail(error),
    cancel: (reason) => stream.cancel(reason),
  }
}
