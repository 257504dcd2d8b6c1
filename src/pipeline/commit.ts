import type { EmbeddedError, StreamWatch, UpstreamFormat } from '../formats/format.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { eventTooLong, MAX_EVENT, sseFraming } from '../lib/sse.ts'

/**
 * A stream whose first content has arrived: the chunks held back until then, and the watch that has seen them. Or one that has ended without
 * any: its watch has not `started`.
 */
export interface Committed {
  head: Uint8Array[]
  watch: StreamWatch
}

/** Why a stream is no answer. */
export interface NotCommitted extends EmbeddedError {
  /** The whole body, where it has ended without a single event. */
  unread?: Uint8Array[]
}

/**
 * Holds a stream back until its first content, or its end. Before that point an error event or an early end is a failure of the attempt, so
 * that the next target can be tried; after it they go to the client. Rejects with what `body` rejects with, and with `UPSTREAM_INVALID` when
 * there is no content within 16 MiB.
 */
export async function commitStream(body: ByteStream, format: UpstreamFormat): Promise<Committed | NotCommitted> {
  const watch = format.watchStream()
  const head: Uint8Array[] = []
  let size = 0
  const { framing = sseFraming } = format
  let isUnread = true
  const parser = framing((event) => {
    isUnread = false
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
  if (watch.ended) return { head, watch }
  const message = `The provider ended the stream before ${watch.started ? 'its answer was complete' : 'it had said anything'}.`
  return { class: 'content', status: 502, message, ...(isUnread && { unread: head }) }
}
