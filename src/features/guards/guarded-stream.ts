import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { type CancelDeadline, settlesWithin, startDeadline } from '../../lib/deadline.ts'
import { createEventSplitter } from '../../lib/sse-split.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'
import type { RelayedStream } from '../../request/codec/relay.ts'
import { KEEP_ALIVE_MS } from '../../request/codec/stream-headers.ts'
import type { Clock } from '../../types.ts'
import { EVENT_BLOCK_PATTERN } from '../edit-text/edit-text.ts'
import { EventQueue } from './event-queue.ts'
import type { Guard } from './guard.ts'
import { createGuardRejection } from './guard-rejection.ts'
import type { UncheckedTexts } from './held-text.ts'
import { type BuiltInGuard, checksCalls, restoresMaskedValues } from './kinds/finding-guard.ts'
import { removeTexts } from './read-event.ts'
import type { RejectionReason, RejectionUsage, StreamEnding } from './rejections/rejection-formats.ts'
import type { GuardRun, RejectionDecision } from './run-guards.ts'

interface GuardedStreamOptions {
  stream: RelayedStream
  /** The fields with streamed content. */
  fields: ContentFields
  run: GuardRun
  ending: StreamEnding
  clock: Clock
  /** The comment or event that keeps a connection open. */
  keepAlive: string
  /** The number of choices that the client has requested. */
  choiceCount: number
  /** Maximum number of event characters to hold back. */
  maxHeldLength: number
  /** Returns whether the request contains this string. */
  isInRequest(text: string): boolean
  /** Returns the estimated usage for this many characters. */
  estimateUsage(length: number): RejectionUsage
  onRejected(): void
}

/**
 * Sends a stream's events once guards have passed their text. Passes unchanged events through byte for byte. A timer can trigger a check, but never
 * releases unchecked text. After a rejection, ends the stream in the client's format and cancels the provider's stream. If the client requested
 * several choices, ends only the rejected ones.
 */
export class GuardedStream implements RelayedStream {
  readonly #options: GuardedStreamOptions
  readonly #guards: readonly Guard[]
  readonly #isImmediate: boolean
  readonly #holdsAll: boolean
  readonly #splitter = createEventSplitter()
  readonly #queue: EventQueue
  #lastRejection: RejectionDecision | undefined = undefined
  #pendingRead: Promise<Uint8Array | undefined> | undefined = undefined
  #pendingCheck: Promise<RejectionDecision | undefined> | undefined = undefined
  /** Events that didn't need a check and are waiting to be sent. */
  #readyText = ''
  #lastSentAt: number
  #hasSourceEnded = false
  #hasEnded = false
  #hasFailed = false

  constructor(options: GuardedStreamOptions) {
    this.#options = options
    this.#lastSentAt = options.clock.now()
    this.#guards = options.run.getGuards('answer')
    this.#isImmediate = this.#guards.every((guard) => 'isImmediate' in guard)
    this.#queue = new EventQueue({
      fields: options.fields,
      now: () => options.clock.now(),
      isInRequest: options.isInRequest,
      checksCalls: this.#guards.some(checksCalls),
      measurePartialMatch: (text) => this.#measurePartialMatch(text),
      observe: (event) => options.ending.observe(event),
    })
    this.#holdsAll = this.#guards.some(({ hold }) => hold === 'all')
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#hasEnded) {
      if (!this.#pendingCheck) {
        const chunk = await this.#read()
        if (chunk === 'idle') return this.#createKeepAlive()
        if (this.#hasFailed) {
          if (chunk instanceof Uint8Array)
            return encodeUtf8(removeTexts(decodeUtf8Lenient(chunk), this.#options.fields))
          if (chunk === undefined) return undefined
          continue
        }
        if (chunk !== 'late') this.#queueChunk(chunk)
        if (this.#hasSourceEnded || chunk === 'late' || this.#isDue()) this.#pendingCheck = this.#check()
      }
      if (this.#pendingCheck && !this.#isImmediate && !(await this.#settlesBeforeKeepAlive(this.#pendingCheck)))
        return this.#createKeepAlive()
      let rejection: RejectionDecision | undefined
      try {
        rejection = await this.#pendingCheck
      } catch (error) {
        if (!this.#hasFailed) this.fail(error)
        continue
      } finally {
        this.#pendingCheck = undefined
      }
      if (this.#hasFailed) continue
      const events = this.#readyText + this.#queue.release()
      this.#options.run.heldMs = this.#queue.longestHoldMs
      this.#readyText = ''
      const finalRejection = rejection ?? this.#findFinalRejection()
      if (events !== '') this.#lastSentAt = this.#options.clock.now()
      if (finalRejection) return encodeUtf8(events + this.#reject(finalRejection))
      this.#hasEnded ||= this.#hasSourceEnded
      if (events !== '') return encodeUtf8(events)
    }
    return undefined
  }

  /** Queues the events that a chunk completes, or the remaining events at the end of the stream. */
  #queueChunk(chunk: Uint8Array | undefined): void {
    const bytes = chunk ? this.#splitter.split(chunk) : this.#splitter.flush()
    for (const [block] of decodeUtf8Lenient(bytes ?? EMPTY_BYTES).matchAll(EVENT_BLOCK_PATTERN))
      this.#readyText += this.#queue.addBlock(block)
    this.#hasSourceEnded = chunk === undefined
    if (this.#hasSourceEnded) this.#queue.endTexts()
  }

  #createKeepAlive(): Uint8Array {
    this.#lastSentAt = this.#options.clock.now()
    return encodeUtf8(this.#options.keepAlive)
  }

  /** Resolves to whether the work settles before a keep-alive is due. */
  #settlesBeforeKeepAlive(work: Promise<unknown>): Promise<boolean> {
    const { clock } = this.#options
    return settlesWithin(work, this.#lastSentAt + KEEP_ALIVE_MS - clock.now(), clock)
  }

  fail(error: unknown): void {
    this.#hasFailed = true
    this.#queue.clear()
    this.#options.stream.fail(error)
  }

  cancel(reason?: unknown): void {
    this.#hasEnded = true
    this.#options.stream.cancel(reason)
  }

  /**
   * Reads the next chunk. Resolves to `late` if text has been held long enough that it must be checked. Resolves to `idle` if a keep-alive is due
   * because nothing has been sent.
   */
  async #read(): Promise<Uint8Array | undefined | 'late' | 'idle'> {
    this.#pendingRead ??= this.#options.stream.next()
    const pendingRead = this.#pendingRead
    const { clock } = this.#options
    const { heldSince, count } = this.#queue
    let cancel: CancelDeadline | undefined
    try {
      if (count === 0 || this.#hasFailed) {
        const chunk = await pendingRead
        this.#pendingRead = undefined
        return chunk
      }
      const canBeLate = heldSince !== undefined && !this.#holdsAll && this.#queue.hasUnchecked()
      const lateAt = canBeLate ? heldSince + MAX_UNCHECKED_MS : Infinity
      const idleAt = this.#lastSentAt + KEEP_ALIVE_MS
      const remainingMs = Math.min(lateAt, idleAt) - clock.now()
      const timeoutResult = lateAt <= idleAt ? 'late' : 'idle'
      if (remainingMs <= 0) return timeoutResult
      const timeout = new Promise<'late' | 'idle'>((resolve) => {
        cancel = startDeadline(clock, remainingMs, () => resolve(timeoutResult))
      })
      const result = await Promise.race([pendingRead, timeout])
      if (result !== 'late' && result !== 'idle') this.#pendingRead = undefined
      return result
    } finally {
      cancel?.()
    }
  }

  /** Returns whether enough text is held for a check: a sentence, 400 characters, the end of a string, or a first event without streamed text. */
  #isDue(): boolean {
    if (this.#holdsAll) return false
    if (this.#queue.isFirstUnchecked()) return true
    for (const { text, hasEnded } of this.#queue.listUncheckedSegments())
      if (this.#isImmediate || hasEnded || text.length >= MAX_UNCHECKED_LENGTH || SENTENCE_END_PATTERN.test(text))
        return true
    return false
  }

  /** Checks all held events. Returns the rejection that ends the stream, if any. */
  async #check(): Promise<RejectionDecision | undefined> {
    const uncheckedTexts = this.#queue.listUnchecked()
    const rejection = await this.#checkTexts(uncheckedTexts)
    if (!rejection) return undefined
    if (this.#options.choiceCount > 1 && this.#options.ending.endChoice)
      return this.#rejectChoices(uncheckedTexts, rejection)
    if (this.#isImmediate && !this.#holdsAll) await this.#passLeadingEvents()
    else await this.#passEventsBeforeText()
    return rejection
  }

  /** Returns the rejection that ends the stream even though the check passed: too much is held, or only rejected choices are left. */
  #findFinalRejection(): RejectionDecision | undefined {
    if (this.#queue.heldLength > this.#options.maxHeldLength) {
      const guard = this.#guards.find(({ hold }) => hold === 'all') ?? this.#guards[0]
      return guard && { kind: 'refused', guard, category: 'too-long' }
    }
    return this.#queue.hasOnlyRejectedChoices(this.#options.choiceCount) ? this.#lastRejection : undefined
  }

  /** Checks strings and applies changes to them. Returns the rejection, if any. */
  async #checkTexts(uncheckedTexts: UncheckedTexts): Promise<RejectionDecision | undefined> {
    const { channels, strings } = uncheckedTexts
    const { run } = this.#options
    const echoes = strings.filter(({ string }) => string.isEcho).map(({ string }) => string.part)
    const parts = [...channels, ...strings.filter(({ string }) => !string.isEcho).map(({ string }) => string)].map(
      ({ part }) => part,
    )
    const final = channels.every(({ channel }) => channel.hasEnded)
    const decision = await run.check({ parts, stage: 'answer', final }, this.#guards)
    if (decision.kind === 'refused') return decision
    const restoration = await run.check(
      { parts: echoes, stage: 'answer', final },
      this.#guards.filter(restoresMaskedValues),
    )
    const texts = new Map(
      [decision, restoration].flatMap((result) => (result.kind === 'passed' ? [...result.texts] : [])),
    )
    this.#queue.markChecked(uncheckedTexts, texts)
    return undefined
  }

  /** Checks each choice separately and ends the rejected ones. Returns the rejection if it affects all choices. */
  async #rejectChoices(
    { channels, strings }: UncheckedTexts,
    fullRejection: RejectionDecision,
  ): Promise<RejectionDecision | undefined> {
    const { ending, choiceCount, onRejected } = this.#options
    const choices = [...channels.map(({ channel }) => channel.choice), ...strings.map(({ string }) => string.choice)]
    const rejectedChoices = new Set<string>()
    for (const choice of new Set(choices)) {
      const rejection = await this.#checkTexts({
        channels: channels.filter(({ channel }) => channel.choice === choice),
        strings: strings.filter(({ string }) => string.choice === choice),
      })
      if (rejection && choice === '') return rejection
      if (rejection) rejectedChoices.add(choice)
    }
    if (rejectedChoices.size === 0) return fullRejection
    this.#lastRejection = fullRejection
    onRejected()
    this.#queue.endChoices(rejectedChoices, (choice) => ending.endChoice?.(choice) ?? {})
    return this.#queue.rejectedChoiceCount >= choiceCount ? fullRejection : undefined
  }

  /** Passes as many leading events as possible. Finds the first rejected one by binary search. */
  async #passLeadingEvents(): Promise<void> {
    let passedCount = 0
    for (let rejectedCount = this.#queue.count; rejectedCount - passedCount > 1; ) {
      const middle = (passedCount + rejectedCount) >> 1
      if (await this.#checkTexts(this.#queue.listUnchecked(middle))) rejectedCount = middle
      else passedCount = middle
    }
    this.#queue.holdCalls(passedCount)
  }

  /** Passes the events that precede the first text. Clients need these to parse the end of a rejected stream. */
  async #passEventsBeforeText(): Promise<void> {
    const leadingCount = this.#queue.countLeadingEvents()
    let passedCount = 0
    while (passedCount < leadingCount && !(await this.#checkTexts(this.#queue.listUnchecked(passedCount + 1))))
      passedCount++
    this.#queue.holdCalls(passedCount)
  }

  /** Returns how many characters at the end of a string could be the start of a match. */
  #measurePartialMatch(text: string): number {
    let longest = 0
    for (const guard of this.#guards) {
      const { maxMatch = DEFAULT_MAX_MATCH }: Guard = guard
      const length = 'isImmediate' in guard ? (guard as BuiltInGuard).measurePartialMatch?.(text) : maxMatch
      longest = Math.max(longest, length ?? 0)
    }
    return longest
  }

  /** Ends the stream in the client's format. */
  #reject({ guard, category }: { guard: Guard; category: string | undefined }): string {
    const { stream, ending, estimateUsage, onRejected } = this.#options
    const error = createGuardRejection(guard, category)
    const reason: RejectionReason = { message: error.message, category }
    onRejected()
    this.#queue.clear()
    this.#hasEnded = true
    stream.fail(error) // nobody reads the stream's own error event
    return ending.end(reason, estimateUsage(this.#queue.textLength))
  }
}

const EMPTY_BYTES = new Uint8Array(0)
const DEFAULT_MAX_MATCH = 256
const MAX_UNCHECKED_LENGTH = 400
const MAX_UNCHECKED_MS = 750
const SENTENCE_END_PATTERN = /[.!?\u3002\uff01\uff1f](?:\s|$)|\n/
