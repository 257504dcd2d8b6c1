import { gatewayError, toGatewayError } from '../errors.ts'
import type { EmbeddedError, Format, StreamWatch, TokenUsage } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import { createSseParser } from '../lib/sse.ts'
import { createEventSplitter } from '../lib/sse-split.ts'
import type { Committed } from './commit.ts'

/** How a committed stream ended. */
export interface StreamEnd {
  usage: TokenUsage | undefined
  /** The stream told the client of an error, or was cut. */
  error: EmbeddedError | undefined
  /** The client left before the end. */
  cancelled: boolean
}

/**
 * Passes a committed stream on, in whole events, byte for byte. A stream that is cut, silent too long or ends without its format's
 * end mark gets an error event instead of the rest: never a clean end. Keeps 4 KiB of the tail to account for it.
 */
export function relayStream(
  body: ByteStream,
  { head, watch }: Committed,
  { format, onEnd }: { format: Format; onEnd(end: StreamEnd): void },
): ByteStream {
  const tail = createTail(watch)
  const splitter = createEventSplitter()
  let chunk: Uint8Array | undefined = concatBytes(head)
  let over = false

  function finish(error: EmbeddedError | undefined, cancelled: boolean) {
    if (over) return
    over = true
    onEnd({ usage: watch.usage, error, cancelled })
  }

  /** The upstream has ended or failed: the last bytes, or the error event in place of a half one. */
  function settle(thrown: unknown): Uint8Array {
    if (thrown !== undefined) body.cancel(thrown)
    const rest = closeEvent(splitter.rest())
    tail.add(rest)
    tail.observe()
    const clean = thrown === undefined ? watch.ended : watch.closed
    if (clean || watch.error) {
      finish(watch.error, false)
      return rest
    }
    const cut =
      thrown ??
      gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })
    const { status, code, message } = toGatewayError(cut)
    finish({ status, message }, false)
    return encodeUtf8(format.errorEvent({ status, code, message }))
  }

  async function pull(): Promise<Uint8Array> {
    for (;;) {
      chunk ??= await body.next()
      if (!chunk) return settle(undefined)
      const whole = splitter.take(chunk)
      chunk = undefined
      if (whole) {
        tail.add(whole)
        return whole
      }
    }
  }

  return {
    async next() {
      if (over) return undefined
      const bytes = await pull().catch(settle)
      return bytes.length > 0 ? bytes : undefined
    },
    cancel(reason) {
      body.cancel(reason)
      tail.observe()
      finish(undefined, true)
    },
  }
}

/** A last event that lacks only its blank line gets it; half an event is dropped. */
function closeEvent(rest: Uint8Array): Uint8Array {
  if (rest.length === 0) return rest
  let whole = true
  const parser = createSseParser(({ data }) => {
    if (data !== '[DONE]' && tryParseJson(data) === undefined) whole = false
  })
  parser.push(decodeUtf8Lenient(rest))
  parser.end()
  return whole ? concatBytes([rest, encodeUtf8('\n\n')]) : new Uint8Array(0)
}

const MAX_TAIL = 4 * 1024

/** The last whole events of a stream, enough to find its end mark and its usage without parsing what came before. */
function createTail(watch: StreamWatch) {
  let kept: Uint8Array[] = []
  let size = 0
  return {
    add(bytes: Uint8Array) {
      kept.push(bytes)
      size += bytes.length
      for (let oldest = kept[0]; oldest && size - oldest.length >= MAX_TAIL; oldest = kept[0]) {
        kept.shift()
        size -= oldest.length
      }
    },
    observe() {
      const parser = createSseParser((event) => watch.observe(event))
      parser.push(decodeUtf8Lenient(concatBytes(kept)))
      parser.end()
      kept = []
      size = 0
    },
  }
}
