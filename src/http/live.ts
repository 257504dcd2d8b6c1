import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { CancelDeadline } from '../lib/deadline.ts'
import type { ByteStream, Exchange } from '../lib/exchange.ts'
import { closed, fields, invalidInput, parseInput } from '../management/input.ts'
import { type LiveEventType, type LiveFeed, liveEventTypes } from './live-feed.ts'
import { UNCACHED } from './reply.ts'
import type { HttpRoute } from './router.ts'

/** The path of the live events. It is no management operation, since its response has no end. */
export const LIVE = '/api/live'

const TYPES = `must be one or several of ${liveEventTypes.join(', ')}, with commas between them`
const AFTER = 'must be the id of an event'

export const liveInput = closed({
  after: v.exactOptional(v.pipe(fields.text, v.regex(/^[0-9a-f]{8}-\d{1,15}$/, AFTER))),
  types: v.exactOptional(
    v.pipe(
      fields.text,
      v.check((text) => text.split(',').every(isType), TYPES),
    ),
  ),
})

const isType = (name: string): name is LiveEventType => liveEventTypes.some((known) => known === name)

/** A stream with nothing to send sends a comment after this time, in ms. */
const KEEP_ALIVE_MS = 15_000
/** Events are sent together: so long after others at the earliest, in ms. */
const TOGETHER_MS = 100
/** A piece is sent once it has so many characters. */
const PIECE = 64 * 1024
const MOST_READERS = 100

/** The route that sends what happens, until the client leaves. `Last-Event-ID` or `after`: goes on after that event. */
export const liveRoute = (feed: LiveFeed): HttpRoute => ({
  method: 'GET',
  path: LIVE,
  async run({ exchange }) {
    const { after, types } = parseInput(liveInput, queryOf(exchange))
    if (feed.readers.size >= MOST_READERS)
      throw gatewayError('TOO_BUSY', {
        message: `${MOST_READERS} readers already follow the events of this gateway. Close some of them, or try again later.`,
        headers: { 'retry-after': '15' },
      })
    const wanted = new Set(types === undefined ? liveEventTypes : types.split(',').filter(isType))
    const stream = new LiveStream(feed, wanted, after)
    await stream.open()
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', ...UNCACHED, 'x-accel-buffering': 'no' },
      body: stream,
    }
  },
})

function queryOf(exchange: Exchange): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [name, text] of new URLSearchParams(exchange.query)) {
    if (Object.hasOwn(query, name)) throw invalidInput(`"${name}" must be given once`)
    query[name] = text
  }
  const last = exchange.header('last-event-id')?.trim()
  return last ? { ...query, after: last } : query
}

/**
 * The live events as server-sent events, for one reader. The stream keeps a position in the feed instead of events, so that a slow reader costs no
 * memory. When the feed has dropped events that the reader has not had, an event `lost` gives their number.
 */
class LiveStream implements ByteStream {
  readonly #feed: LiveFeed
  readonly #wanted: ReadonlySet<LiveEventType>
  readonly #after: string | undefined
  #place: number | undefined = undefined // before the first piece
  #sentAt = Number.NEGATIVE_INFINITY
  #isOver = false
  #leave: () => void = () => {}
  #wake: (() => void) | undefined = undefined

  constructor(feed: LiveFeed, wanted: ReadonlySet<LiveEventType>, after: string | undefined) {
    this.#feed = feed
    this.#wanted = wanted
    this.#after = after
  }

  async open(): Promise<void> {
    this.#leave = await this.#feed.open({ news: () => this.#wake?.(), end: () => this.#end() })
  }

  async next(): Promise<Uint8Array | undefined> {
    const feed = this.#feed
    const { clock } = feed.deps
    const keepAliveAt = clock.now() + KEEP_ALIVE_MS
    let text = this.#place === undefined ? this.#first() : ''
    while (text === '' && !this.#isOver && clock.now() < keepAliveAt) {
      if (this.#place === feed.head)
        await this.#wait(Math.min(keepAliveAt, feed.nextChange()) - clock.now(), () => this.#place !== feed.head)
      await this.#wait(this.#sentAt + TOGETHER_MS - clock.now(), () => false)
      await feed.checkHealth()
      text = this.#piece()
    }
    if (text === '') text = this.#piece()
    if (text === '' && this.#isOver) return undefined
    this.#sentAt = clock.now()
    return encodeUtf8(text || ': still here\n\n')
  }

  /** What comes before all events. */
  #first(): string {
    const { head } = this.#feed
    this.#place = this.#after === undefined ? undefined : this.#feed.placeOf(this.#after)
    if (this.#place !== undefined) return ': live\n\n'
    this.#place = head
    return `: live\n\n${this.#after === undefined ? '' : this.#own('lost', {})}${this.#own('running', this.#feed.running())}`
  }

  #own(type: LiveEventType, data: object): string {
    return this.#wanted.has(type) ? this.#feed.textOf(type, data, this.#feed.head) : ''
  }

  /** The events after the place, as many as fit. */
  #piece(): string {
    const feed = this.#feed
    let place = this.#place ?? feed.head
    let text = ''
    if (!feed.isHeld(place)) {
      text = this.#own('lost', { events: feed.head - place }) + this.#own('running', feed.running())
      place = feed.head
    }
    while (place < feed.head && text.length < PIECE) text += feed.textAfter(place++, this.#wanted)
    this.#place = place
    return text
  }

  /** Resolves after `ms`, or sooner with news for which `isEnough`, or when the stream ends. */
  async #wait(ms: number, isEnough: () => boolean): Promise<void> {
    if (this.#isOver || ms <= 0) return
    let cancelTimer: CancelDeadline = () => {}
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        if (this.#isOver || isEnough()) resolve()
      }
      cancelTimer = this.#feed.deps.startTimer(ms, resolve)
    })
    this.#wake = undefined
    cancelTimer()
  }

  /** Ends the stream; what is held is still sent. */
  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#leave()
    this.#wake?.()
  }

  cancel(): void {
    this.#place = this.#feed.head
    this.#end()
  }
}
