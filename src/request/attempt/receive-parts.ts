import { Scope } from '../../lib/scope.ts'
import { addUsages } from '../../pricing/cost.ts'
import type { TokenUsage } from '../../protocols/formats/format.ts'
import type { FailedResponse, ReceivedResponse, WholeResponse } from '../codec/response.ts'

/** How many calls of one request are under way at once. */
const AT_ONCE = 4

/**
 * Receives the responses to the parts of a divided request, a few at a time. Resolves to the first of them, which has the usage of all and all
 * of them as its `parts`, or to the first failure; the other calls end then, and with `around`. With `isPartial` those that are under way are
 * waited for then, and those that have come are the response.
 */
export async function runConcurrently<Part>(
  parts: readonly Part[],
  around: Scope,
  receive: (part: Part, scope: Scope) => Promise<ReceivedResponse | FailedResponse>,
  { isPartial = false }: { isPartial?: boolean } = {},
): Promise<WholeResponse | FailedResponse> {
  const scope = new Scope()
  const end = (reason: unknown) => scope.end(reason)
  around.add(end)
  const received: WholeResponse[] = []
  let failed: FailedResponse | undefined
  const queue = parts.entries()

  async function work(): Promise<void> {
    for (let part = queue.next(); !part.done && !failed && !scope.hasEnded; part = queue.next()) {
      const [at, asked] = part.value
      const response = await receive(asked, scope)
      if (response.kind === 'whole') received[at] = response
      else if (response.kind === 'stream') throw new TypeError('A part of a divided request was streamed.')
      else if (!failed) {
        failed = response
        if (!isPartial) scope.end(OTHER_FAILED)
      }
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, parts.length) }, work))
  } finally {
    around.remove(end)
  }
  const [answered] = Object.values(received) // some places may be empty
  if (failed && isPartial && answered && !around.hasEnded)
    return { ...answered, usage: sumCompleteUsage(Object.values(received)), parts: Object.values(received) }
  if (failed) return { ...failed, usage: sumUsage([failed, ...Object.values(received)]) } // some places may be empty
  const [first] = received
  if (around.hasEnded || !first) throw around.reason
  return { ...first, usage: sumCompleteUsage(received), parts: received }
}

/** The usage of all responses; `undefined` if one reports none, as the sum would be too low. */
const sumCompleteUsage = (responses: readonly WholeResponse[]): TokenUsage | undefined =>
  responses.every(({ usage }) => usage) ? sumUsage(responses) : undefined

/** The usage of all responses that have one; `undefined` where none has. */
const sumUsage = (responses: ReadonlyArray<{ usage?: TokenUsage | undefined }>): TokenUsage | undefined =>
  responses
    .flatMap(({ usage }) => usage ?? [])
    .reduce<TokenUsage | undefined>((sum, usage) => (sum ? addUsages(sum, usage) : usage), undefined)

/** The reason by which the calls beside one that failed end; it is never reported. */
const OTHER_FAILED = Symbol('another part has failed')
