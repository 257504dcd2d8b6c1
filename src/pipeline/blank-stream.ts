import { concatBytes, decodeUtf8Lenient } from '../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer } from '../lib/exchange.ts'
import type { FailedAttempt } from './attempt.ts'
import type { Committed } from './commit.ts'
import { emptyAnswer } from './failure.ts'

/** The failure of a stream that has ended without content. It keeps the stream if that says that the model has ended its turn. */
export function blankStream(head: UpstreamAnswer, committed: Committed): FailedAttempt {
  const failed: FailedAttempt = { kind: 'failure', failure: emptyAnswer }
  if (!endsTurn(decodeUtf8Lenient(concatBytes(committed.head)))) return failed
  return { ...failed, blank: { kind: 'stream', head, body: nothing, committed } }
}

/** Does a stream say that the model has ended its turn? */
export const endsTurn = (text: string): boolean => ENDS_TURN.test(text)

/** The normal end of a turn, in any format's words; an end mark alone is no answer. */
const ENDS_TURN =
  /"(?:finish_?reason|stop_reason)"\s*:\s*"(?:stop|end_turn)"|"response\.completed"|event: *response\.completed/i

/** What follows what has been held back. */
const nothing: ByteStream = { next: async () => undefined, cancel() {} }
