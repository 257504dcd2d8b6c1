import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { type CancelDeadline, startDeadline } from '../../lib/deadline.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { formatSseEvent, type SseEvent } from '../../lib/sse.ts'
import { createEventSplitter } from '../../lib/sse-split.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'
import type { RelayedStream } from '../../request/codec/relay.ts'
import type { Clock } from '../../types.ts'
import { type ContentText, listContentTexts } from '../edit-text/content-texts.ts'
import { BLOCK, dropProbabilities, parseEvent } from '../edit-text/edit-text.ts'
import type { Guard, GuardPart, GuardPartKind } from './guard.ts'
import { createRefusal } from './guard-refusal.ts'
import { type Channel, changePieces, type HeldEvent, joinPieces, measureFirst, mustCheck } from './held-text.ts'
import { isBinary, isKeyword } from './keywords.ts'
import type { BuiltInGuard } from './kinds/finding-guard.ts'
import type { RefusalReason, RefusalUsage, StreamEnding } from './refusals/refusal-formats.ts'
import type { GuardDecision, GuardRun } from './run-guards.ts'

interface GuardedStreamTerms {
  stream: RelayedStream
  /** The fields with content; `undefined` if the stream has no texts that continue from event to event. */
  fields: ContentFields
  run: GuardRun
  ending: StreamEnding
  clock: Clock
  /** The longest stream that is held back as a whole, in characters. */
  maxHeld: number
  /** Returns the estimated usage of this many characters. */
  estimateUsage(length: number): RefusalUsage
  onRefused(): void
}

/**
 * Sends the events of a stream once guards have passed their texts. Untouched events keep their bytes. A timer can trigger a check, never a release.
 * After a refusal, the stream ends in the client's format, and the provider's stream is canceled.
 */
export class GuardedStream implements RelayedStream {
  readonly #terms: GuardedStreamTerms
  readonly #guards: readonly Guard[]
  readonly #isImmediate: boolean
  readonly #holdsAll: boolean
  readonly #splitter = createEventSplitter()
  readonly #channels = new Map<string, Channel>()
  readonly #seen = new Set<string>()
  #queue: HeldEvent[] = []
  #reading: Promise<Uint8Array | undefined> | undefined = undefined
  #heldSince: number | undefined = undefined
  #heldLength = 0
  #partIds = 0
  #sentLength = 0
  #isOver = false
  #isDraining = false

  constructor(terms: GuardedStreamTerms) {
    this.#terms = terms
    this.#guards = terms.run.on('answer')
    this.#isImmediate = this.#guards.every((guard) => 'isImmediate' in guard)
    this.#holdsAll = this.#guards.some(({ hold }) => hold === 'all')
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      const chunk = await this.#read()
      if (this.#isDraining) {
        if (chunk === undefined || chunk === 'late') return undefined
        return chunk
      }
      let isEnd = false
      let passed = ''
      if (chunk !== 'late') {
        isEnd = chunk === undefined
        const bytes = chunk ? this.#splitter.take(chunk) : this.#splitter.rest()
        for (const [block] of decodeUtf8Lenient(bytes ?? EMPTY).matchAll(BLOCK)) passed += this.#take(block)
      }
      if (isEnd) for (const channel of this.#channels.values()) channel.isOver = true
      const refusal = isEnd || chunk === 'late' || this.#isDue() ? await this.#check(isEnd) : undefined
      if (refusal) await this.#passStart()
      const events = passed + this.#release()
      if (refusal) return encodeUtf8(events + this.#refuse(refusal))
      this.#isOver = isEnd
      if (events !== '') return encodeUtf8(events)
    }
    return undefined
  }

  fail(error: unknown): void {
    this.#isDraining = true
    this.#queue = []
    this.#terms.stream.fail(error)
  }

  cancel(reason?: unknown): void {
    this.#isOver = true
    this.#terms.stream.cancel(reason)
  }

  /** Reads the next chunk. Resolves to `late` when text has been held long enough that it must be checked. */
  async #read(): Promise<Uint8Array | undefined | 'late'> {
    this.#reading ??= this.#terms.stream.next()
    const reading = this.#reading
    const { clock } = this.#terms
    let cancel: CancelDeadline | undefined
    try {
      if (this.#heldSince === undefined || this.#holdsAll || !this.#hasUnchecked()) {
        const chunk = await reading
        this.#reading = undefined
        return chunk
      }
      const late = new Promise<'late'>((resolve) => {
        const left = MAX_UNCHECKED_MS - (clock.now() - (this.#heldSince ?? 0))
        cancel = startDeadline(clock, Math.max(0, left), () => resolve('late'))
      })
      const read = await Promise.race([reading, late])
      if (read !== 'late') this.#reading = undefined
      return read
    } finally {
      cancel?.()
    }
  }

  /** Queues an event. Returns it if it needs no check and nothing waits before it. */
  #take(block: string): string {
    const event = parseEvent(block)
    if (!event) return block // a comment, which has no place in the order of events
    const json = parseExactly(event.data)
    if (!isObject(json)) {
      this.#takeText(block, event)
      return ''
    }
    if (json.type === 'ping' && Object.keys(json).length === 1) return block
    const held: HeldEvent = { block, event, json, channels: new Set(), whole: [], isChanged: false }
    const { texts, ended } = listContentTexts(json, this.#terms.fields, { isEvent: true })
    for (const text of texts) this.#addText(held, text)
    this.#addOthers(held, json, texts)
    this.#endChannels(json, ended)
    this.#queue.push(held)
    return ''
  }

  /** Queues an event that isn't an object. */
  #takeText(block: string, event: SseEvent) {
    const held: HeldEvent = { block, event, json: undefined, channels: new Set(), whole: [], isChanged: false }
    const replace = (data: string) => {
      held.event = { ...event, data }
    }
    if (event.data !== '[DONE]') held.whole.push({ part: this.#createPart('other', event.data), replace })
    this.#queue.push(held)
  }

  #addText(held: HeldEvent, { text, isPiece, isReasoning, channel: name, choice, replace }: ContentText) {
    const kind = CALL.test(name) ? 'tool-call' : isReasoning ? 'reasoning' : 'text'
    if (!isPiece) {
      held.whole.push({ part: this.#createPart(kind, text), replace })
      return
    }
    let channel = this.#channels.get(name)
    if (!channel || (channel.isOver && channel.pieces.length === 0)) {
      const before = channel?.before ?? ''
      channel = { kind, choice, pieces: [], length: 0, checked: 0, cleared: 0, before, isOver: false }
      this.#channels.set(name, channel)
    }
    channel.isOver = false
    channel.pieces.push({ text, event: held, replace })
    channel.length += text.length
    held.channels.add(channel)
    this.#heldLength += text.length
    this.#heldSince ??= this.#terms.clock.now()
  }

  /** Adds the strings outside the content. Those that passed unchanged are not checked again. */
  #addOthers(held: HeldEvent, json: JsonObject, texts: readonly ContentText[]) {
    const visit = (holder: object) => {
      for (const [key, value] of Object.entries(holder)) {
        if (typeof value === 'object' && value !== null) visit(value)
        else if (typeof value === 'string' && value !== '' && !this.#seen.has(value)) {
          if (texts.some((text) => text.holder === holder && `${text.key}` === key)) continue
          if (isKeyword(key, value) || isBinary(value)) continue
          const replace = (text: string) => Object.assign(holder, { [key]: text })
          held.whole.push({ part: this.#createPart('other', value), replace })
        }
      }
    }
    visit(json)
  }

  #createPart(kind: GuardPartKind, text: string): GuardPart {
    return { id: `${this.#partIds++}`, role: 'assistant', kind, text, isOlder: false }
  }

  /** Marks the texts that an event ends. */
  #endChannels({ type, index }: JsonObject, ended: ReadonlySet<string>) {
    const ends = typeof type === 'string' && END.test(type)
    for (const [name, channel] of this.#channels)
      if (ended.has(channel.choice) || (ends && (index === undefined || name.includes(`,${index},`))))
        channel.isOver = true
  }

  #hasUnchecked(): boolean {
    if (this.#queue.some(({ whole }) => whole.length > 0)) return true
    for (const channel of this.#channels.values()) if (mustCheck(channel)) return true
    return false
  }

  /** Returns whether enough text is held: a sentence, 400 characters, the end of a text, or an event without text that is first. */
  #isDue(): boolean {
    if (this.#holdsAll) return this.#heldLength > this.#terms.maxHeld
    const [first] = this.#queue
    if (first && first.channels.size === 0) return true
    for (const channel of this.#channels.values()) {
      if (!mustCheck(channel)) continue
      if (this.#isImmediate) return true
      const text = joinPieces(channel).slice(channel.checked)
      if (channel.isOver || text.length >= MAX_UNCHECKED || SENTENCE.test(text)) return true
    }
    return false
  }

  /** Checks everything that is held. Returns the refusal, if any. */
  async #check(isEnd: boolean): Promise<Extract<GuardDecision, { kind: 'refused' }> | undefined> {
    const { run } = this.#terms
    if (this.#holdsAll && !isEnd && this.#heldLength > this.#terms.maxHeld)
      return { kind: 'refused', guard: this.#guards.find(({ hold }) => hold === 'all') as Guard, category: 'too-long' } // one of them holds all
    const waiting = [...this.#channels.values()].filter(mustCheck).map((channel) => {
      const { before } = channel
      const part = {
        ...this.#createPart(channel.kind, joinPieces(channel)),
        ...(before !== '' && { before }),
        isPiece: !channel.isOver,
      }
      return { channel, part }
    })
    const whole = this.#queue.flatMap((held) => held.whole.map((one) => ({ held, ...one })))
    const parts = [...waiting, ...whole].map(({ part }) => part)
    if (parts.length === 0) return undefined
    const final = waiting.every(({ channel }) => channel.isOver)
    const decision = await run.check({ parts, stage: 'answer', final }, this.#guards)
    if (decision.kind === 'refused') return decision
    const texts = decision.kind === 'passed' ? decision.texts : new Map<string, string>()
    for (const { channel, part } of waiting) {
      const text = texts.get(part.id)
      const changedUntil = text === undefined ? 0 : changePieces(channel, part.text, text)
      channel.checked = channel.length
      const unfinished = channel.isOver ? 0 : this.#countUnfinished(joinPieces(channel))
      channel.cleared = Math.max(changedUntil, channel.length - unfinished, 0)
    }
    for (const { held, part, replace } of whole) {
      const text = texts.get(part.id)
      if (text === undefined) {
        if (part.kind === 'other' && part.text.length <= MAX_REMEMBERED && this.#seen.size < MAX_SEEN)
          this.#seen.add(part.text)
        continue
      }
      replace(text)
      held.isChanged = true
    }
    for (const held of this.#queue) held.whole = []
    this.#heldSince = this.#terms.clock.now()
    return undefined
  }

  /** Returns how many characters at the end may begin a match. */
  #countUnfinished(text: string): number {
    let most = 0
    for (const guard of this.#guards) {
      const { maxMatch = DEFAULT_MAX_MATCH }: Guard = guard
      const count = 'isImmediate' in guard ? (guard as BuiltInGuard).countUnfinished?.(text) : maxMatch
      most = Math.max(most, count ?? 0)
    }
    return most
  }

  /** Dequeues the events whose texts can be sent. */
  #release(): string {
    let events = ''
    let count = 0
    for (const held of this.#queue) {
      if (
        held.whole.length > 0 ||
        ![...held.channels].every((channel) => measureFirst(channel, held).length <= channel.cleared)
      )
        break
      count++
      for (const channel of held.channels) this.#sendPieces(channel, held)
      const { json, event, block } = held
      if (json) this.#terms.ending.observe(json)
      if (held.isChanged && json) dropProbabilities(json)
      events +=
        held.isChanged && event ? formatSseEvent(json ? { ...event, data: JSON.stringify(json) } : event) : block
    }
    if (count > 0) this.#queue = this.#queue.slice(count)
    if (this.#queue.length === 0) this.#heldSince = undefined
    return events
  }

  #sendPieces(channel: Channel, held: HeldEvent) {
    const { count, length } = measureFirst(channel, held)
    const text = channel.pieces
      .splice(0, count)
      .map((piece) => piece.text)
      .join('')
    channel.length -= length
    channel.cleared -= length
    channel.checked -= length
    channel.before = (channel.before + text).slice(-CONTEXT)
    this.#heldLength -= length
    this.#sentLength += length
  }

  /** Passes the events before the first text, without which clients can't read the end of a refused stream. */
  async #passStart(): Promise<void> {
    for (const held of this.#queue) {
      if (held.channels.size > 0) return
      const parts = held.whole.map(({ part }) => part)
      const decision = await this.#terms.run.check({ parts, stage: 'answer', final: true }, this.#guards)
      if (decision.kind !== 'passed' || decision.texts.size > 0) return
      held.whole = []
    }
  }

  /** Ends the stream in the client's format. */
  #refuse({ guard, category }: { guard: Guard; category: string | undefined }): string {
    const { stream, ending, estimateUsage, onRefused } = this.#terms
    const error = createRefusal(guard, category)
    const reason: RefusalReason = { message: error.message, category }
    onRefused()
    this.#queue = []
    this.#isOver = true
    stream.fail(error) // its error event isn't read
    return ending.end(reason, estimateUsage(this.#sentLength + this.#heldLength))
  }
}

const EMPTY = new Uint8Array(0)
const DEFAULT_MAX_MATCH = 256
const CONTEXT = 256
const MAX_UNCHECKED = 400
const MAX_UNCHECKED_MS = 750
const MAX_SEEN = 10_000
const MAX_REMEMBERED = 500
const SENTENCE = /[.!?\u3002\uff01\uff1f](?:\s|$)|\n/

/** Matches the channels of tool calls, and the events that end a text. */
const CALL = /tool_call|function_call|\.arguments|partial_json|tool-input|custom_tool|mcp_call/
const END = /^content_block_stop$|\.done$|-end$/
