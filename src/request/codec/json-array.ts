import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { createSseParser } from '../../lib/sse.ts'
import type { RelayedStream } from './relay.ts'

/** Converts an event stream to one JSON array of the events' data: Google's streaming format for clients that don't request `alt=sse`. */
export function toJsonArray(stream: RelayedStream): RelayedStream {
  let isFirst = true
  let hasEnded = false

  function toElements(chunk: Uint8Array): string {
    let text = ''
    const parser = createSseParser(({ data }) => {
      text += `${isFirst ? '[' : ',\r\n'}${data}`
      isFirst = false
    })
    parser.push(decodeUtf8Lenient(chunk))
    parser.end()
    return text
  }

  return {
    fail: (error) => stream.fail(error),
    cancel: (reason) => stream.cancel(reason),
    async next() {
      if (hasEnded) return undefined
      const chunk = await stream.next()
      if (chunk) return encodeUtf8(toElements(chunk) || '\n') // a keep-alive has no data
      hasEnded = true
      return encodeUtf8(isFirst ? '[]' : ']')
    },
  }
}
