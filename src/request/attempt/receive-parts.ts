import { Scope } from '../../lib/scope.ts'
import { addUsages } from '../../pricing/cost.ts'
import type { TokenUsage } from '../../protocols/formats/format.ts'
import type { BufferedResponse, FailedResponse, ReceivedResponse } from '../codec/response.ts'

/** Maximum number of concurrent calls per request. */
const MAX_CONCURRENT = 4

/**
 * Receives the responses to the parts of a split request, a few at a time. Resolves to the first response, with the total usage, and with all
 * responses as `parts`. If a part fails, resolves to the first failure. A failure cancels the other calls, and so does the end of `parentScope`. With
 * `isPartial`, a failure doesn't cancel the calls in flight, and the responses that arrived are treated as the response.
 */
export async function runConcurrently<Part>(
  parts: readonly Part[],
  parentScope: Scope,
  receive: (part: Part, scope: Scope) => Promise<ReceivedResponse | FailedResponse>,
  { isPartial = false }: { isPartial?: boolean } = {},
): Promise<BufferedResponse | FailedResponse> {
  const scope = new Scope()
  const endScope = (reason: unknown) => scope.end(reason)
  parentScope.add(endScope)
  const responses: BufferedResponse[] = []
  let failedResponse: FailedResponse | undefined
  const queue = parts.entries()

  async function runWorker(): Promise<void> {
    for (let part = queue.next(); !part.done && !failedResponse && !scope.hasEnded; part = queue.next()) {
      const [index, call] = part.value
      const response = await receive(call, scope)
      if (response.kind === 'whole') responses[index] = response
      else if (response.kind === 'stream') throw new TypeError('A part of a divided request was streamed.')
      else if (!failedResponse) {
        failedResponse = response
        if (!isPartial) scope.end(OTHER_PART_FAILED)
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, parts.length) }, runWorker))
  } finally {
    parentScope.remove(endScope)
  }
  const [firstArrived] = Object.values(responses) // some elements may be empty
  if (failedResponse && isPartial && firstArrived && !parentScope.hasEnded)
    return { ...firstArrived, usage: sumCompleteUsage(Object.values(responses)), parts: Object.values(responses) }
  if (failedResponse) return { ...failedResponse, usage: sumUsage([failedResponse, ...Object.values(responses)]) } // some elements may be empty
  const [firstResponse] = responses
  if (parentScope.hasEnded || !firstResponse) throw parentScope.reason
  return { ...firstResponse, usage: sumCompleteUsage(responses), parts: responses }
}

/** Totals the usage of all responses. Returns `undefined` if one of them doesn't report any, because the total would be too low. */
const sumCompleteUsage = (responses: readonly BufferedResponse[]): TokenUsage | undefined =>
  responses.every(({ usage }) => usage) ? sumUsage(responses) : undefined

/** Totals the usage of all responses that report it. Returns `undefined` if none do. */
const sumUsage = (responses: ReadonlyArray<{ usage?: TokenUsage | undefined }>): TokenUsage | undefined =>
  responses
    .flatMap(({ usage }) => usage ?? [])
    .reduce<TokenUsage | undefined>((sum, usage) => (sum ? addUsages(sum, usage) : usage), undefined)

/** The abort reason of calls after another one failed; never reported. */
const OTHER_PART_FAILED = Symbol('another part has failed')
