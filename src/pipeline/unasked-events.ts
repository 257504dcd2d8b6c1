import { gatewayError } from '../errors.ts'
import type { EmbeddedError } from '../formats/format.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { type SseEvent, sseFraming } from '../lib/sse.ts'
import type { Expected, FailedAttempt, WholeAnswer } from './attempt.ts'
import { endsTurn } from './blank-stream.ts'
import { answerTooLarge, contentFailure, emptyAnswer } from './failure.ts'

/**
 * Reads the events of a provider that streams although nobody has asked for a stream, up to the format's end mark. As nothing of them has
 * reached the client, an error among them is one of the attempt. Rejects with what the body rejects with, with `UPSTREAM_CUT` when they end
 * too early, and with `UPSTREAM_INVALID` when there are too many.
 */
export async function gatherEvents(
  head: UpstreamAnswer,
  { format, limits }: Expected,
): Promise<WholeAnswer | FailedAttempt | EmbeddedError> {
  const { framing = sseFraming } = format
  const { maxAnswerBytes } = limits
  const { body } = head
  const watch = format.watchStream()
  const events: SseEvent[] = []
  let size = 0
  const parser = framing((event) => {
    if (watch.error || watch.closed) return
    events.push(event)
    watch.observe(event)
  })
  while (!watch.error && !watch.closed) {
    const chunk = await body.next()
    if (!chunk) {
      parser.end()
      break
    }
    size += chunk.length
    if (size > maxAnswerBytes) throw answerTooLarge(maxAnswerBytes)
    parser.push(chunk)
  }
  body.cancel() // it has said all, though it may not have closed
  if (watch.error) return watch.error
  if (!watch.ended) {
    if (watch.started) throw gatewayError('UPSTREAM_CUT', { message: CUT })
    return { kind: 'failure', failure: contentFailure(SILENT) }
  }
  const whole: WholeAnswer = { kind: 'whole', head, bytes: NOTHING, json: {}, usage: watch.usage, events }
  if (watch.started) return whole
  const text = events.map(({ event, data }) => `event: ${event}\n${data}`).join('\n')
  return { kind: 'failure', failure: emptyAnswer, ...(endsTurn(text) && { blank: whole }) }
}

const NOTHING = new Uint8Array(0)
const CUT = 'The provider ended the stream before its answer was complete.'
const SILENT = 'The provider ended the stream before it had said anything.'
