import type { ByteStream } from '../../../src/lib/exchange.ts'

/** What becomes of a connection behind its last byte. */
export type Break = 'reset' | 'end' | 'stall'

export interface Body extends ByteStream {
  /** Neither at its end nor given up. */
  readonly isOpen: boolean
  /** Somebody waits for more, which will not come. */
  readonly isStalled: boolean
}

/** The chunks, one a pull, and then the break. Giving it up rejects whoever waits, as every HTTP client does. */
export function brokenBody(chunks: Iterable<Uint8Array>, how: Break): Body {
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
      if (how === 'stall') {
        return new Promise((_, reject) => {
          rejectWait = reject
        })
      }
      isOpen = false
      if (how === 'reset') throw new TypeError('terminated')
      return undefined
    },
    cancel(reason) {
      isOpen = false
      rejectWait?.(reason)
    },
  }
}
