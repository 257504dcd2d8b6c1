import type { EmbeddedError, StreamWatch, UpstreamFormat } from '../formats/format.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { eventTooLong, MAX_EVENT, sseFraming } from '../lib/sse.ts'

/** A stream whose first content has arrived: the chunks held back until then, and the watch that has seen them. */
export interface Committed {
  head: Uint8Array[]
  watch: StreamWatch
}

/**
 * Holds a stream back until its first content. Before that point an error event, an early end or an empty answer is a failure of the
 * attempt, so that the next target can be tried; after it they go to the client. Rejects with what `body` rejects with, and with
 * `UPSTREAM_INVALID` when there is no content within 16 MiB.
 */
export async function commitStream(body: ByteStream, format: UpstreamFormat): Promise<Committed | EmbeddedError> {
  const watch = format.watchStream()
  const head: Uint8Array[] = []
  let size = 0
  const { framing = sseFraming } = format
  const parser = framing((event) => {
    if (!watch.error) watch.observe(event) // nothing behind an error makes an answer of it
  })
  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    head.push(chunk)
    size += chunk.length
    if (size > MAX_EVENT) throw eventTooLong()
    parser.push(chunk)
    if (watch.error && !watch.started) return watch.error
    if (watch.started) return { head, watch }
    if (watch.closed) break
  }
  parser.end() // half an event, which is no JSON, says nothing
  if (watch.error && !watch.started) return watch.error
  if (watch.started && watch.ended) return { head, watch }
  if (watch.started) return noAnswer('The provider ended the stream before its answer was complete.')
  return noAnswer(
    watch.ended ? 'The provider sent an empty answer.' : 'The provider ended the stream before it had said anything.',
  )
}

const noAnswer = (message: string): EmbeddedError => ({ class: 'content', status: 502, message })
