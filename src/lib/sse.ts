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
  let data: string[] = []
  let size = 0

  function push(text: string) {
    let at = 0
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
      const end = endOfLine(text, at)
      if (end === -1) return keep(text.slice(at))
      const rest = text.slice(at, end)
      afterCr = text[end] === '\r'
      at = end + 1
      line(pieces.length === 0 ? rest : takePieces() + rest)
    }
  }

  function keep(piece: string) {
    pieces.push(piece)
    pending += piece.length
    if (pending + size > MAX_EVENT) throw eventTooLong()
  }

  function takePieces() {
    const whole = pieces.join('')
    pieces = []
    pending = 0
    return whole
  }

  function line(text: string) {
    if (text === '') return dispatch()
    const colon = text.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') {
      data.push(value)
      size += value.length
    } else if (field === 'event') event = value
  }

  function dispatch() {
    if (data.length > 0) onEvent({ event, data: data.join('\n') })
    event = undefined
    data = []
    size = 0
  }

  return {
    push,
    /** Takes a last event that no blank line has closed. */
    end() {
      if (pieces.length > 0) line(takePieces())
      dispatch()
    },
  }
}

/** `UPSTREAM_INVALID`, for whoever holds an event that is not complete. */
export const eventTooLong = (): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an event longer than 16 MiB.' })

function endOfLine(text: string, from: number): number {
  const lf = text.indexOf('\n', from)
  const cr = text.indexOf('\r', from)
  return cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
}
