import { eventTooLong, MAX_EVENT, type SseEvent } from '../../lib/sse.ts'

/**
 * Reads the objects of a JSON array that arrives in pieces, each as an event; an object without an array around it is one too. That is how
 * Google streams to who does not ask for events. Linear in the length of the input. Throws `UPSTREAM_INVALID` when one object passes 16 MiB.
 */
export function createArrayParser(onEvent: (event: SseEvent) => void): { push(text: string): void; end(): void } {
  let pieces: string[] = [] // of the object that is not complete yet
  let pending = 0
  let depth = 0
  let isText = false
  let isEscaped = false

  function push(text: string) {
    let from = depth > 0 ? 0 : -1
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isText = false
      } else if (code === QUOTE) isText = depth > 0
      else if (code === OPEN && depth++ === 0) from = at
      else if (code === CLOSE && depth > 0 && --depth === 0) {
        keep(text.slice(from, at + 1))
        from = -1
        onEvent({ event: undefined, data: take() })
      }
    }
    if (from !== -1) keep(text.slice(from))
  }

  function keep(piece: string) {
    pieces.push(piece)
    pending += piece.length
    if (pending > MAX_EVENT) throw eventTooLong()
  }

  function take(): string {
    const whole = pieces.join('')
    pieces = []
    pending = 0
    return whole
  }

  return { push, end: () => void take() }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
