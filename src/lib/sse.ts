import { type GatewayError, gatewayError } from '../errors.ts'

/** One server-sent event; `data` joins several data lines by newlines. */
export interface SseEvent {
  event: string | undefined
  data: string
}

/** Longest event that is kept while it is incomplete, in characters or bytes. */
export const MAX_EVENT = 16 * 1024 * 1024

/**
 * Reads events out of text that arrives in pieces: any line ending, also split over two pieces, comments and a byte order mark skipped.
 * Linear in the length of the input. Throws `UPSTREAM_INVALID` when one event passes 16 MiB.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): { push(text: string): void; end(): void } {
  let pieces: string[] = [] // of the line that is not complete yet
  let pending = 0
  let afterCr = false
  let first = true
  let event: string | undefined
  let data: string | undefined

  function push(text: string) {
    let at = 0
    let cr = text.indexOf('\r') // looked for again only once it is passed
    if (first && text.length > 0) {
      first = false
      if (text.charCodeAt(0) === 0xfeff) at = 1
    }
    while (at < text.length) {
      if (afterCr) {
        afterCr = false
        if (text[at] === '\n') {
          at++
          continue
        }
      }
      if (cr !== -1 && cr < at) cr = text.indexOf('\r', at)
      const lf = text.indexOf('\n', at)
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      if (end === -1) return keep(text.slice(at))
      if (pieces.length === 0) line(text, at, end)
      else joinedLine(text.slice(at, end))
      afterCr = end === cr
      at = end + 1
    }
  }

  function keep(piece: string) {
    pieces.push(piece)
    pending += piece.length
    if (pending + (data?.length ?? 0) > MAX_EVENT) throw eventTooLong()
  }

  /** A line whose beginning came in earlier pieces. */
  function joinedLine(rest: string) {
    const whole = pieces.join('') + rest
    pieces = []
    pending = 0
    line(whole, 0, whole.length)
  }

  /** The line that stands between two places: no copy is made but of its value. */
  function line(text: string, from: number, end: number) {
    if (from === end) return dispatch()
    if (isField('data', text, from, end)) {
      const value = valueBehind(text, from + 'data'.length, end)
      data = data === undefined ? value : `${data}\n${value}`
      if (data.length > MAX_EVENT) throw eventTooLong()
    } else if (isField('event', text, from, end)) event = valueBehind(text, from + 'event'.length, end)
  }

  function dispatch() {
    if (data !== undefined) onEvent({ event, data })
    event = data = undefined
  }

  return {
    push,
    /** Takes a last event that no blank line has closed. */
    end() {
      if (pieces.length > 0) joinedLine('')
      dispatch()
    },
  }
}

/** Reads the events of a stream out of its bytes, which may be cut anywhere. Throws `UPSTREAM_INVALID` on what it cannot read. */
export interface StreamParser {
  push(chunk: Uint8Array): void
  /** Takes a last event that nothing has closed, where there can be one. */
  end(): void
}

/** How a stream is divided into events. */
export type StreamFraming = (onEvent: (event: SseEvent) => void) => StreamParser

/** Server-sent events, which nearly all streams are. */
export const sseFraming: StreamFraming = (onEvent) => {
  const parser = createSseParser(onEvent)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // the parser looks for one
  return {
    push: (chunk) => parser.push(decoder.decode(chunk, endsWhole(chunk) ? WHOLE : PART)),
    end() {
      parser.push(decoder.decode())
      parser.end()
    },
  }
}

/** Nothing of a character can be missing behind ASCII. Runtimes decode what is whole much faster. */
const endsWhole = (chunk: Uint8Array) => (chunk[chunk.length - 1] ?? 0) < 0x80

const WHOLE = { stream: false }
const PART = { stream: true }

/** `UPSTREAM_INVALID`, for whoever holds an event that is not complete. */
export const eventTooLong = (): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an event longer than 16 MiB.' })

function isField(name: string, text: string, from: number, end: number): boolean {
  const after = from + name.length
  return text.startsWith(name, from) && (after === end || text[after] === ':')
}

/** What stands behind the colon, without one space; nothing where there is no colon. */
function valueBehind(text: string, colon: number, end: number): string {
  return text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
}
