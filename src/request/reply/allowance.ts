import { countStreamTokens } from '../../pricing/content-tokens.ts'
import type { RelayedStream } from '../codec/relay.ts'
import type { OutputAllowance } from '../steps.ts'

/**
 * Wraps the stream so that it requests more output before it exceeds its allowance. `fieldNames` contains the event fields with the model's output.
 * If the stream may not continue, it ends with an error event, unless the provider has already sent everything.
 */
export function limitToAllowance(
  stream: RelayedStream,
  { tokens, extend }: OutputAllowance,
  fieldNames: readonly string[],
): RelayedStream {
  let allowedTokens = tokens
  let outputSize = 0
  let isExhausted = false
  return {
    async next() {
      const chunk = await stream.next()
      if (!chunk || isExhausted) return chunk
      outputSize += countStreamTokens(chunk, fieldNames)
      if (outputSize <= allowedTokens) return chunk
      try {
        allowedTokens = await extend(outputSize)
        return chunk
      } catch (error) {
        isExhausted = true
        stream.fail(error)
        return (await stream.next()) ?? chunk
      }
    },
    fail: (error) => stream.fail(error),
    cancel: (reason) => stream.cancel(reason),
  }
}
