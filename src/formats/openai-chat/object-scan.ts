import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../lib/json-codes.ts'

/** Follows the JSON of an object that comes in pieces, each of which is looked at once. Keeps only the last few of them. */
export interface ObjectScan {
  add(piece: string): void
  /** Has the object that it began with been closed, with nothing behind it? */
  isComplete(): boolean
}

export function createObjectScan(): ObjectScan {
  let unseen: string[] = []
  let depth = 0
  let isText = false
  let isEscaped = false
  let isClosed = false
  let isBroken = false // something stands in front of the object or behind it

  function see(piece: string) {
    for (let at = 0; at < piece.length && !isBroken; at++) {
      const code = piece.charCodeAt(at)
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isText = false
      } else if (depth === 0) {
        if (code === OPEN_BRACE && !isClosed) depth = 1
        else isBroken = code > SPACE
      } else if (code === QUOTE) isText = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) isClosed = --depth === 0
    }
  }

  function look() {
    for (const piece of unseen) see(piece)
    unseen = []
  }

  return {
    add(piece) {
      if (unseen.push(piece) > MOST_UNSEEN) look()
    },
    isComplete() {
      look()
      return isClosed && !isBroken
    },
  }
}

/** Most answers end before anybody asks, and before this many have come. */
const MOST_UNSEEN = 256

const SPACE = 0x20
