import type { ByteStream } from '../../../src/lib/exchange.ts'

/** How a connection ends after its last byte. */
export type Break = 'reset' | 'end' | 'stall'

export interface Body extends ByteStream {
  /** Whether the body has neither ended nor been canceled. */
  readonly isOpen: boolean
  /** Whether a reader is waiting for data that will never arrive. */
  readonly isStalled: boolean
}

/** Creates a body that returns one chunk per pull and then breaks. Canceling it rejects any pending read, as in every HTTP client. */
export function brokenBody(chunks: Iterable<Uint8Array>, mode: Break): Body {
  const rest = chunks[Symbol.iterator]()
  let isOpen = true
  let rejectWait: ((reason: unknown) => void) | undefined
  return {
    get isOpen() {
      return isOpen
    },
    get isStalled() {
      return isOpen && rejectWait !== undefined
    },
    async next() {
      const { done, value } = rest.next()
      if (!done) return value
      if (mode === 'stall') {
        return new Promise((_, reject) => {
          rejectWait = reject
        })
      }
      isOpen = false
      if (mode === 'reset') throw new TypeError('terminated')
      return undefined
    },
    cancel(reason) {
      isOpen = false
      rejectWait?.(reason)
    },
  }
}
