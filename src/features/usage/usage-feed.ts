import { encodeUtf8 } from '../../lib/bytes.ts'
import type { CancelDeadline } from '../../lib/deadline.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { formatSseEvent } from '../../lib/sse.ts'
import type { FreshnessTracker } from '../../records/cached.ts'
import type { Storage } from '../../types.ts'
import { decodeBatch } from './batch.ts'
import { JOURNAL_PREFIX, parseJournalKey } from './layout.ts'
import type { StoredRequest } from './request-record.ts'

/** How often an idle stream sends a comment to prevent proxies from closing it, in ms. */
const KEEP_ALIVE_MS = 15_000
/** Maximum number of requests waiting for a slow reader. Requests beyond that are dropped and counted. */
const MAX_PENDING_REQUESTS = 1_000

/**
 * A stream of finished requests as server-sent events: `event: request` with the request as JSON, and `event: dropped` with the number of requests
 * dropped because the reader was too slow.
 */
export class LiveStream implements ByteStream {
  readonly #startTimer: (ms: number, onExpire: () => void) => CancelDeadline
  #onEnd: () => void = () => {}
  #pendingRequests: StoredRequest[] = []
  #droppedCount = 0
  #text = ': live\n\n'
  #hasEnded = false
  #wake: (() => void) | undefined = undefined

  /** `startTimer` starts a timer that doesn't keep the process alive. */
  constructor(startTimer: (ms: number, onExpire: () => void) => CancelDeadline) {
    this.#startTimer = startTimer
  }

  /** Calls `listener` when the stream ends. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
  }

  send(request: StoredRequest): void {
    if (this.#pendingRequests.length >= MAX_PENDING_REQUESTS) this.#droppedCount++
    else this.#pendingRequests.push(request)
    this.#wake?.()
  }

  async next(): Promise<Uint8Array | undefined> {
    const isIdle = this.#text === '' && this.#pendingRequests.length === 0 && this.#droppedCount === 0
    if (isIdle && !this.#hasEnded) await this.#waitForRequest()
    for (const request of this.#pendingRequests.splice(0))
      this.#text += formatSseEvent({ event: 'request', data: JSON.stringify(request) })
    if (this.#droppedCount > 0)
      this.#text += formatSseEvent({ event: 'dropped', data: JSON.stringify({ requests: this.#droppedCount }) })
    this.#droppedCount = 0
    if (this.#text === '' && this.#hasEnded) return undefined
    const text = this.#text || ': still here\n\n'
    this.#text = ''
    return encodeUtf8(text)
  }

  async #waitForRequest(): Promise<void> {
    let cancelTimer: CancelDeadline = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      cancelTimer = this.#startTimer(KEEP_ALIVE_MS, resolve)
    })
    this.#wake = undefined
    cancelTimer()
  }

  /** Ends the stream after sending the waiting requests. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#onEnd()
    this.#wake?.()
  }

  cancel(): void {
    this.#pendingRequests = []
    this.#text = ''
    this.#droppedCount = 0
    this.end()
  }
}

/** Sends the requests written by other instances to readers, as long as there are any readers. */
export function followJournal(options: {
  storage: Pick<Storage, 'get'>
  freshness: Pick<FreshnessTracker, 'onChange'>
  /** This instance's name. */
  instanceId: string
  hasReaders(): boolean
  send(request: StoredRequest): void
  onError(error: unknown): void
}): void {
  const { storage, freshness, instanceId, hasReaders, send, onError } = options

  async function sendBatch(key: string): Promise<void> {
    const storedBatch = await storage.get(key) // `undefined` if the batch has already been folded and deleted
    for (const request of (storedBatch && decodeBatch(storedBatch.value)?.requests) ?? []) send(request)
  }

  freshness.onChange((key) => {
    if (hasReaders() && key.startsWith(JOURNAL_PREFIX) && parseJournalKey(key).instanceId !== instanceId)
      void sendBatch(key).catch(onError)
  })
}
