import type { UpstreamAnswer } from '../lib/exchange.ts'
import type { OpenedUpstream } from '../upstream/open.ts'
import type { AttemptResult, Expected } from './attempt.ts'
import { commitStream, type NotCommitted } from './commit.ts'

/** Reads a stream up to its first content, or to what shows that it is none. Rejects as its body does. */
export async function receiveStream(
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult | NotCommitted> {
  const committed = await commitStream(head.body, expected.format)
  if (!('watch' in committed)) {
    pending.cancel(committed)
    return committed
  }
  if (!committed.watch.started) {
    pending.cancel(committed)
    const { blankStream } = await import('./blank-stream.ts')
    return blankStream(head, committed)
  }
  pending.setTotal(Number.POSITIVE_INFINITY)
  return { kind: 'stream', head, body: head.body, committed }
}
