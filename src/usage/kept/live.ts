import { encodeUtf8 } from '../../lib/bytes.ts'
import type { CancelDeadline } from '../../lib/deadline.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { eventText } from '../../lib/sse.ts'
import type { Freshness } from '../../store/cached.ts'
import type { Storage } from '../../types.ts'
import { decodeRequests } from './codec.ts'
import { batchOf, JOURNAL } from './layout.ts'
import type { KeptRequest } from './record.ts'

/** A stream without requests sends a comment after this time, in ms, so that no proxy on the way closes it as idle. */
const KEEP_ALIVE_MS = 15_000
/** Requests that wait for a slow reader; more are left out, and counted. */
const MOST_WAITING = 1_000

/**
 * Finished requests as server-sent events: `event: request` with the request as JSON, and `event: dropped` with the number of those that were
 * left out as the reader was too slow.
 */
export class LiveStream implements ByteStream {
  readonly #startTimer: (ms: number, onTime: () => void) => CancelDeadline
  #onEnd: () => void = () => {}
  #waiting: KeptRequest[] = []
  #dropped = 0
  #text = ': live\n\n'
  #isOver = false
  #wake: (() => void) | undefined = undefined

  /** `startTimer`: starts a timer that keeps no process alive. */
  constructor(startTimer: (ms: number, onTime: () => void) => CancelDeadline) {
    this.#startTimer = startTimer
  }

  /** Calls `listener` when the stream has ended. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
  }

  send(request: KeptRequest): void {
    if (this.#waiting.length >= MOST_WAITING) this.#dropped++
    else this.#waiting.push(request)
    this.#wake?.()
  }

  async next(): Promise<Uint8Array | undefined> {
    if (!this.#isOver && !this.#hasText()) await this.#news()
    for (const request of this.#waiting.splice(0))
      this.#text += eventText({ event: 'request', data: JSON.stringify(request) })
    if (this.#dropped > 0)
      this.#text += eventText({ event: 'dropped', data: JSON.stringify({ requests: this.#dropped }) })
    this.#dropped = 0
    if (this.#text === '' && this.#isOver) return undefined
    const text = this.#text || ': still here\n\n'
    this.#text = ''
    return encodeUtf8(text)
  }

  #hasText(): boolean {
    return this.#text !== '' || this.#waiting.length > 0 || this.#dropped > 0
  }

  /** Resolves when there is something to send, or it is time for a comment. */
  async #news(): Promise<void> {
    let cancelTimer: CancelDeadline = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      cancelTimer = this.#startTimer(KEEP_ALIVE_MS, resolve)
    })
    this.#wake = undefined
    cancelTimer()
  }

  /** Ends the stream; what waits is still sent. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd()
    this.#wake?.()
  }

  cancel(): void {
    this.#waiting = []
    this.#text = ''
    this.#dropped = 0
    this.end()
  }
}

/** Sends what other instances write, while there are readers. */
export function followJournal(options: {
  storage: Pick<Storage, 'get'>
  freshness: Pick<Freshness, 'onChange'>
  /** This instance. */
  instance: string
  hasReaders(): boolean
  send(request: KeptRequest): void
  onError(error: unknown): void
}): void {
  const { storage, freshness, instance, hasReaders, send, onError } = options

  async function read(key: string): Promise<void> {
    const stored = await storage.get(key) // nothing where it has been folded and deleted
    for (const request of (stored && decodeRequests(stored.value)?.requests) ?? []) send(request)
  }

  freshness.onChange((key) => {
    if (hasReaders() && key.startsWith(JOURNAL) && batchOf(key).instance !== instance) void read(key).catch(onError)
  })
}
