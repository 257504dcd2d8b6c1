import * as v from 'valibot'
import { closedObject, createInputError, fields, parseInput } from '../../admin/input.ts'
import { gatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import type { CancelDeadline } from '../../lib/deadline.ts'
import type { ByteStream, Exchange } from '../../lib/exchange.ts'
import { UNCACHED_HEADERS } from '../../request/door/reply.ts'
import type { HttpRoute } from '../../request/door/router.ts'
import { type LiveEventType, type LiveFeed, liveEventTypes } from './live-feed.ts'

/** The path of the live events. It isn't a management operation, because its response doesn't end. */
export const LIVE_PATH = '/api/live'

const TYPES_MESSAGE = `must be a comma-separated list of ${liveEventTypes.join(', ')}`
const AFTER_MESSAGE = 'must be an event ID'

export const liveInput = closedObject({
  after: v.exactOptional(v.pipe(fields.text, v.regex(/^[0-9a-f]{8}-\d{1,15}$/, AFTER_MESSAGE))),
  types: v.exactOptional(
    v.pipe(
      fields.text,
      v.check((text) => text.split(',').every(isLiveEventType), TYPES_MESSAGE),
    ),
  ),
})

const isLiveEventType = (name: string): name is LiveEventType => liveEventTypes.some((type) => type === name)

/** How often an idle stream sends a comment, in ms. */
const KEEP_ALIVE_INTERVAL_MS = 15_000
/** Minimum time between two writes to a reader, in ms, so events are batched. */
const BATCH_MS = 100
/** Chunks are sent once they reach this size, in characters. */
const CHUNK_CHARACTERS = 64 * 1024
const MAX_READERS = 100

/** Creates the route that streams live events until the client disconnects. `Last-Event-ID` or `after` resumes the stream after that event. */
export const liveRoute = (feed: LiveFeed): HttpRoute => ({
  method: 'GET',
  path: LIVE_PATH,
  async run({ exchange }) {
    const { after, types } = parseInput(liveInput, readQuery(exchange))
    if (feed.readers.size >= MAX_READERS)
      throw gatewayError('TOO_BUSY', {
        message: `${MAX_READERS} clients are already following this gateway's events. Close some of them or try again later.`,
        headers: { 'retry-after': '15' },
      })
    const wantedTypes = new Set(types === undefined ? liveEventTypes : types.split(',').filter(isLiveEventType))
    const stream = new LiveStream(feed, wantedTypes, after)
    await stream.open()
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', ...UNCACHED_HEADERS, 'x-accel-buffering': 'no' },
      body: stream,
    }
  },
})

function readQuery(exchange: Exchange): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [name, text] of new URLSearchParams(exchange.query)) {
    if (Object.hasOwn(query, name)) throw createInputError(`"${name}" can only appear once`)
    query[name] = text
  }
  const lastEventId = exchange.header('last-event-id')?.trim()
  return lastEventId ? { ...query, after: lastEventId } : query
}

/**
 * Streams live events to one reader as server-sent events. Instead of events, it stores a position in the feed, so a slow reader doesn't take up
 * memory. If the feed drops events that the reader hasn't received, a `lost` event reports how many.
 */
class LiveStream implements ByteStream {
  readonly #feed: LiveFeed
  readonly #types: ReadonlySet<LiveEventType>
  readonly #resumeId: string | undefined
  #position: number | undefined = undefined // `undefined` before the first chunk
  #sentAt = Number.NEGATIVE_INFINITY
  #hasEnded = false
  #unsubscribe: () => void = () => {}
  #wake: (() => void) | undefined = undefined

  constructor(feed: LiveFeed, requestedTypes: ReadonlySet<LiveEventType>, after: string | undefined) {
    this.#feed = feed
    this.#types = requestedTypes
    this.#resumeId = after
  }

  async open(): Promise<void> {
    this.#unsubscribe = await this.#feed.open({ onEvent: () => this.#wake?.(), close: () => this.#end() })
  }

  async next(): Promise<Uint8Array | undefined> {
    const feed = this.#feed
    const { clock } = feed.deps
    const keepAliveAt = clock.now() + KEEP_ALIVE_INTERVAL_MS
    let text = this.#position === undefined ? this.#start() : ''
    while (text === '' && !this.#hasEnded && clock.now() < keepAliveAt) {
      if (this.#position === feed.head)
        await this.#wait(
          Math.min(keepAliveAt, feed.getNextHealthChange()) - clock.now(),
          () => this.#position !== feed.head,
        )
      await this.#wait(this.#sentAt + BATCH_MS - clock.now(), () => false)
      await feed.checkHealth()
      text = this.#nextChunk()
    }
    if (text === '') text = this.#nextChunk()
    if (text === '' && this.#hasEnded) return undefined
    this.#sentAt = clock.now()
    return encodeUtf8(text || ': still here\n\n')
  }

  #start(): string {
    const { head } = this.#feed
    this.#position = this.#resumeId === undefined ? undefined : this.#feed.parseEventId(this.#resumeId)
    if (this.#position !== undefined) return ': live\n\n'
    this.#position = head
    return `: live\n\n${this.#resumeId === undefined ? '' : this.#formatOwnEvent('lost', {})}${this.#formatOwnEvent('running', this.#feed.listRunning())}`
  }

  #formatOwnEvent(type: LiveEventType, data: object): string {
    return this.#types.has(type) ? this.#feed.formatEvent(type, data, this.#feed.head) : ''
  }

  /** Returns as many of the next events as fit in a chunk. */
  #nextChunk(): string {
    const feed = this.#feed
    let position = this.#position ?? feed.head
    let text = ''
    if (!feed.isBuffered(position)) {
      text =
        this.#formatOwnEvent('lost', { events: feed.head - position }) +
        this.#formatOwnEvent('running', feed.listRunning())
      position = feed.head
    }
    while (position < feed.head && text.length < CHUNK_CHARACTERS) text += feed.getTextAfter(position++, this.#types)
    this.#position = position
    return text
  }

  /** Resolves after `ms`, or earlier if the stream ends or if `isReady` returns `true` when events arrive. */
  async #wait(ms: number, isReady: () => boolean): Promise<void> {
    if (this.#hasEnded || ms <= 0) return
    let cancelTimer: CancelDeadline = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        if (this.#hasEnded || isReady()) resolve()
      }
      cancelTimer = this.#feed.deps.startTimer(ms, resolve)
    })
    this.#wake = undefined
    cancelTimer()
  }

  /** Ends the stream after sending the buffered events. */
  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#unsubscribe()
    this.#wake?.()
  }

  cancel(): void {
    this.#position = this.#feed.head
    this.#end()
  }
}
