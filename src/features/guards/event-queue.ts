import { isObject, type JsonObject } from '../../lib/json.ts'
import { formatSseEvent, type SseEvent } from '../../lib/sse.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'
import { dropProbabilities, parseEvent } from '../edit-text/edit-text.ts'
import { BlockTails, EMPTY_TAIL, toTail } from './block-tails.ts'
import { CallJoiner, type CompletedCall, createCallPart } from './called-tools.ts'
import { dropChoices, isEmptyEvent, listEndedChoices } from './choices.ts'
import { hasRepeatedField, isKeepAlive, NON_DATA_LINE_PATTERN, readBareJson } from './event-blocks.ts'
import type { GuardPart, GuardPartKind } from './guard.ts'
import {
  type Channel,
  changePieces,
  createChannel,
  createHeldEvent,
  type HeldEvent,
  joinPieces,
  measurePieces,
  needsCheck,
  type UncheckedTexts,
} from './held-text.ts'
import { type EventContent, type OtherText, readEvent } from './read-event.ts'
import { CONTEXT_LENGTH, StringJoiner } from './string-joiner.ts'

interface EventQueueOptions {
  fields: ContentFields
  now(): number
  /** Returns whether the request contains this string. */
  isInRequest(text: string): boolean
  /** Returns how many characters at the end of a piece could be the start of a match. */
  measurePartialMatch(text: string): number
  /** Whether a guard checks the complete arguments of tool calls. */
  checksCalls: boolean
  /** Called with each event that is sent. */
  observe(event: JsonObject): void
}

/** The stream events that are waiting for a verdict, in order. */
export class EventQueue {
  readonly #options: EventQueueOptions
  readonly #channels = new Map<string, Channel>()
  /** The last characters of streamed text, by choice and kind. A reader sees all channels with the same choice and kind as one string. */
  readonly #tails = new BlockTails()
  /** The tails of complete strings in events that repeat streamed text, by event type, choice, and kind. */
  readonly #repeatedTails = new BlockTails()
  readonly #passedTexts = new Set<string>()
  readonly #openCalls = new Set<string>()
  readonly #toolNames = new Map<string, string>()
  readonly #callJoiner = new CallJoiner()
  readonly #stringJoiner = new StringJoiner()
  readonly #rejectedChoices = new Set<string>()
  readonly #endedChoices = new Set<string>()
  #events: HeldEvent[] = []
  /** The events with unchecked strings. */
  readonly #uncheckedEvents = new Set<HeldEvent>()
  /** When the oldest unchecked content arrived, or `undefined` if everything has been checked. */
  heldSince: number | undefined = undefined
  /** The longest time that an event has been held, in ms. */
  longestHoldMs = 0
  /** The total length of the held events. */
  heldLength = 0
  /** The total length of the strings that have arrived, whether or not they have been sent. */
  textLength = 0
  #nextPartId = 0

  constructor(options: EventQueueOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#events.length
  }

  /** Queues an event. If it needs no check and may be sent out of order, returns it instead. */
  addBlock(block: string): string {
    const event = parseEvent(block) ?? readBareJson(block)
    if (!event) return isKeepAlive(block) ? block : ''
    const json = parseExactly(event.data)
    if (!isObject(json)) {
      this.#addNonObjectEvent(block, event)
      return ''
    }
    if (json.type === 'ping' && Object.keys(json).length === 1) return block
    for (const choice of listEndedChoices(json)) this.#endedChoices.add(choice)
    const isDropped = this.#rejectedChoices.size > 0 && dropChoices(json, this.#rejectedChoices)
    if (isDropped && isEmptyEvent(json)) return ''
    const isChanged = isDropped || hasRepeatedField(event.data, json)
    const { texts, otherTexts, endedChoices, startedCalls, endedCalls } = readEvent(json, this.#options.fields)
    const heldEvent = createHeldEvent(block, event, { json, startedCalls, endedCalls, isChanged })
    const type = `${json.type}`
    const tails = type.endsWith('.done') ? this.#repeatedTails : new BlockTails()
    for (const text of texts) this.#addText(heldEvent, text, { type, tails })
    for (const [line] of block.matchAll(NON_DATA_LINE_PATTERN))
      if (line !== `event: ${type}`) this.#addLine(heldEvent, line)
    for (const otherText of otherTexts) {
      const { text, choice, path, isToolName, call } = otherText
      const precedingText = path === undefined ? '' : this.#stringJoiner.add(`${choice} ${path}`, text)
      if (precedingText !== '' || !this.#passedTexts.has(text))
        this.#addString(heldEvent, isToolName ? 'tool-call' : 'other', otherText, toTail(precedingText))
      if (isToolName && call !== undefined) this.#addToolName(heldEvent, otherText, call)
    }
    if (this.#options.checksCalls)
      for (const call of this.#callJoiner.addEvent(json, endedChoices)) this.#addCall(call, heldEvent)
    this.#endChannels(json, endedChoices)
    for (const call of startedCalls) this.#openCalls.add(call)
    for (const call of endedCalls) this.#openCalls.delete(call)
    this.#enqueue(heldEvent)
    return ''
  }

  /** Queues an event whose data isn't an object. */
  #addNonObjectEvent(block: string, event: SseEvent) {
    const heldEvent = createHeldEvent(block, event)
    const replace = (data: string) => {
      heldEvent.event = { ...event, data }
    }
    if (event.data !== '[DONE]') {
      const precedingTail = toTail(this.#stringJoiner.add('data', event.data))
      this.#addString(heldEvent, 'other', { text: event.data, choice: '', isEcho: false, replace }, precedingTail)
    }
    this.#enqueue(heldEvent)
  }

  #enqueue(heldEvent: HeldEvent) {
    this.#events.push(heldEvent)
    this.heldLength += heldEvent.block.length
    heldEvent.queuedAt = this.#options.now()
    this.heldSince ??= heldEvent.queuedAt
  }

  #addText(
    heldEvent: HeldEvent,
    content: EventContent['texts'][number],
    { type, tails }: { type: string; tails: BlockTails },
  ) {
    const { text, isDelta, isReasoning, channel: name, choice, replace } = content
    const kind = CALL_CHANNEL_PATTERN.test(name) ? 'tool-call' : isReasoning ? 'reasoning' : 'text'
    if (!isDelta) {
      const repeatKey = `${type} ${choice} ${kind}`
      const precedingTail = kind === 'tool-call' || INPUT_CHANNEL_PATTERN.test(name) ? EMPTY_TAIL : tails.get(repeatKey)
      tails.add(repeatKey, text, true)
      return this.#addString(heldEvent, kind, content, precedingTail)
    }
    const readerKey = `${choice} ${kind}`
    let channel = this.#channels.get(name)
    const isNewBlock = !channel || (channel.hasEnded && channel.pieces.length === 0)
    if (!channel || isNewBlock) {
      const precedingTail = kind === 'tool-call' ? EMPTY_TAIL : this.#tails.get(readerKey)
      channel = createChannel({ kind, choice, sentTail: channel?.sentTail ?? '', precedingTail })
      this.#channels.set(name, channel)
    }
    channel.hasEnded = false
    channel.pieces.push({ text, event: heldEvent, replace })
    channel.length += text.length
    heldEvent.channels.add(channel)
    this.textLength += text.length
    this.#tails.add(readerKey, text, isNewBlock)
  }

  /** Adds the part of a streamed tool name that has arrived so far. The call is held until the name is complete. */
  #addToolName(heldEvent: HeldEvent, piece: OtherText, call: string) {
    const previousText = this.#toolNames.get(call) ?? ''
    const text = previousText + piece.text
    this.#toolNames.set(call, text)
    if (previousText !== '') this.#addString(heldEvent, 'tool-call', { ...piece, text, replace() {} })
  }

  /** Adds an event's non-data line. The line is dropped if a guard changes it. */
  #addLine(heldEvent: HeldEvent, line: string) {
    const replace = () => {
      heldEvent.event = { data: heldEvent.event?.data ?? '', event: undefined }
    }
    if (!this.#passedTexts.has(line))
      this.#addString(heldEvent, 'other', { text: line, choice: '', isEcho: false, replace })
  }

  /** Adds a complete string. `precedingTail` is the text that precedes it, such as the same field's text in earlier events. */
  #addString(
    heldEvent: HeldEvent,
    kind: GuardPartKind,
    { text, choice, isEcho, replace }: OtherText,
    precedingTail = EMPTY_TAIL,
  ) {
    const isRequestEcho = isEcho && this.#options.isInRequest(text)
    this.#uncheckedEvents.add(heldEvent)
    const part = {
      ...this.#createPart(kind, text),
      ...(precedingTail.text !== '' && { before: precedingTail.text, starts: precedingTail.starts }),
    }
    heldEvent.strings.push({ part, choice, isEcho: isRequestEcho, replace })
  }

  #createPart(kind: GuardPartKind, text: string): GuardPart {
    return { id: `${this.#nextPartId++}`, role: 'assistant', kind, text, isOlder: false }
  }

  /** Marks the strings that an event ends. */
  #endChannels({ type, index }: JsonObject, endedChoices: ReadonlySet<string>) {
    const isEndEvent = typeof type === 'string' && END_EVENT_PATTERN.test(type)
    for (const [name, channel] of this.#channels)
      if (endedChoices.has(channel.choice) || (isEndEvent && (index === undefined || name.includes(`,${index},`))))
        channel.hasEnded = true
  }

  /** Adds a complete tool call to the first held event with a call, so none of the call's events is sent before the verdict. */
  #addCall({ choice, ...call }: CompletedCall, currentEvent: HeldEvent | undefined) {
    const heldEvent =
      this.#events.find(({ startedCalls }) => startedCalls.length > 0) ?? currentEvent ?? this.#events.at(-1)
    if (!heldEvent) return
    this.#uncheckedEvents.add(heldEvent)
    heldEvent.strings.push({ part: createCallPart(`${this.#nextPartId++}`, call), choice, isEcho: false, replace() {} })
  }

  /** Ends all strings and calls. */
  endTexts() {
    if (this.#options.checksCalls) for (const call of this.#callJoiner.flush()) this.#addCall(call, undefined)
    for (const channel of this.#channels.values()) channel.hasEnded = true
    this.#openCalls.clear()
  }

  hasUnchecked(): boolean {
    if (this.#uncheckedEvents.size > 0) return true
    for (const channel of this.#channels.values()) if (needsCheck(channel)) return true
    return false
  }

  /** Returns whether the first event contains only complete strings and is still unchecked. */
  isFirstUnchecked(): boolean {
    const [first] = this.#events
    return first !== undefined && first.channels.size === 0 && first.strings.length > 0
  }

  /** Lists the unchecked part of each string that must be checked. */
  *listUncheckedSegments(): Iterable<{ text: string; hasEnded: boolean }> {
    for (const channel of this.#channels.values())
      if (needsCheck(channel))
        yield { text: joinPieces(channel).slice(channel.checkedLength), hasEnded: channel.hasEnded }
  }

  /** Lists the unchecked strings in the first `count` events (default: all). */
  listUnchecked(count = this.#events.length): UncheckedTexts {
    const events = this.#events.slice(0, count)
    const includesAllEvents = count === this.#events.length
    const eventSet = new Set(events)
    const channels = [...this.#channels.values()].filter(needsCheck).flatMap((channel) => {
      const text = joinPieces(channel, includesAllEvents ? undefined : eventSet)
      if (!includesAllEvents && (channel.kind === 'tool-call' || text.length <= channel.checkedLength)) return []
      const { kind } = channel
      const previousText = channel.precedingText || channel.sentTail
      const isPiece = !includesAllEvents || !channel.hasEnded
      return [
        {
          channel,
          part: {
            ...this.#createPart(kind, text),
            ...(previousText !== '' && { before: previousText }),
            ...(channel.precedingText !== '' && { starts: channel.starts }),
            isPiece,
          },
        },
      ]
    })
    const uncheckedEvents = includesAllEvents ? [...this.#uncheckedEvents] : events
    return {
      channels,
      strings: uncheckedEvents.flatMap((heldEvent) => heldEvent.strings.map((string) => ({ heldEvent, string }))),
    }
  }

  /** Marks strings as checked and applies their changes. */
  markChecked({ channels, strings }: UncheckedTexts, texts: ReadonlyMap<string, string>): void {
    for (const { channel, part } of channels) {
      const text = texts.get(part.id)
      const changedUntil = text === undefined ? 0 : changePieces(channel, part.text, text)
      const checkedText = text ?? part.text
      const partialMatchLength = part.isPiece
        ? this.#options.measurePartialMatch((channel.precedingText || channel.sentTail) + checkedText)
        : 0
      channel.checkedLength = checkedText.length
      channel.clearedLength = Math.max(changedUntil, checkedText.length - partialMatchLength, 0)
    }
    for (const { heldEvent, string } of strings) {
      const { part, replace } = string
      heldEvent.strings = heldEvent.strings.filter((other) => other !== string)
      if (heldEvent.strings.length === 0) this.#uncheckedEvents.delete(heldEvent)
      const text = texts.get(part.id)
      if (text !== undefined) {
        replace(text)
        heldEvent.isChanged = true
      } else if (part.kind === 'other' && !string.isEcho && part.text.length <= MAX_PASSED_TEXT_LENGTH)
        if (this.#passedTexts.size < MAX_PASSED_TEXTS) this.#passedTexts.add(part.text)
    }
    this.heldSince = this.#options.now()
  }

  /** Removes the rejected choices and ends each of them with an event. */
  endChoices(rejectedChoices: ReadonlySet<string>, createEndEvent: (choice: number) => JsonObject): void {
    for (const choice of rejectedChoices) this.#rejectedChoices.add(choice)
    for (const [name, { choice }] of this.#channels) if (rejectedChoices.has(choice)) this.#channels.delete(name)
    this.#events = this.#events.filter((heldEvent) => {
      const { json } = heldEvent
      if (!json || !dropChoices(json, rejectedChoices)) return true
      heldEvent.isChanged = true
      heldEvent.strings = heldEvent.strings.filter(({ choice }) => !rejectedChoices.has(choice))
      if (heldEvent.strings.length === 0) this.#uncheckedEvents.delete(heldEvent)
      for (const channel of heldEvent.channels)
        if (rejectedChoices.has(channel.choice)) heldEvent.channels.delete(channel)
      return !isEmptyEvent(json)
    })
    for (const choice of rejectedChoices) {
      this.#openCalls.delete(`choice ${choice}`)
      const json = createEndEvent(Number(choice))
      const data = JSON.stringify(json)
      const block = formatSseEvent({ event: undefined, data })
      this.#enqueue(createHeldEvent(block, { event: undefined, data }, { json }))
    }
  }

  get rejectedChoiceCount(): number {
    return this.#rejectedChoices.size
  }

  /** Returns whether all choices that are still open have been rejected. */
  hasOnlyRejectedChoices(choiceCount: number): boolean {
    const openCount = [...this.#rejectedChoices].filter((choice) => !this.#endedChoices.has(choice)).length
    return openCount > 0 && this.#events.length === 0 && this.#endedChoices.size + openCount >= choiceCount
  }

  /** Holds back the tool calls in events from index `firstIndex` onward, and tool calls whose arguments haven't passed yet. */
  holdCalls(firstIndex: number): void {
    for (const [index, { startedCalls, endedCalls, channels }] of this.#events.entries()) {
      const isHeld = index >= firstIndex || [...channels].some((channel) => channel.kind === 'tool-call')
      if (isHeld) for (const call of [...startedCalls, ...endedCalls]) this.#openCalls.add(call)
    }
  }

  /** Returns the number of events that precede the first streamed text. */
  countLeadingEvents(): number {
    const count = this.#events.findIndex(({ channels }) => channels.size > 0)
    return count === -1 ? this.#events.length : count
  }

  clear(): void {
    this.#events = []
    this.#uncheckedEvents.clear()
    this.heldLength = 0
    this.heldSince = undefined
  }

  /** Dequeues the events whose text may be sent. */
  release(): string {
    let output = ''
    let count = 0
    const now = this.#options.now()
    const sentCounts = new Map<Channel, number>() // number of dequeued pieces by channel
    for (const heldEvent of this.#events) {
      if (heldEvent.strings.length > 0 || heldEvent.startedCalls.some((call) => this.#openCalls.has(call))) break
      const channels = [...heldEvent.channels]
      const isCleared = (channel: Channel) =>
        measurePieces(channel, heldEvent, sentCounts.get(channel)).length <= channel.clearedLength
      if (!channels.every(isCleared)) break
      count++
      this.heldLength -= heldEvent.block.length
      this.longestHoldMs = Math.max(this.longestHoldMs, now - heldEvent.queuedAt)
      for (const channel of channels)
        sentCounts.set(channel, this.#markSent(channel, heldEvent, sentCounts.get(channel) ?? 0))
      const { json, event, block } = heldEvent
      if (json) this.#options.observe(json)
      if (heldEvent.isChanged && json) dropProbabilities(json)
      output +=
        heldEvent.isChanged && event ? formatSseEvent(json ? { ...event, data: JSON.stringify(json) } : event) : block
    }
    for (const [{ pieces }, pieceCount] of sentCounts) pieces.splice(0, pieceCount)
    if (count > 0) this.#events = this.#events.slice(count)
    if (this.#events.length === 0) this.heldSince = undefined
    return output
  }

  /** Marks an event's pieces as sent. Returns the index of the next piece. */
  #markSent(channel: Channel, heldEvent: HeldEvent, start: number): number {
    const { count, length } = measurePieces(channel, heldEvent, start)
    let text = ''
    for (const piece of channel.pieces.slice(start, start + count)) text += piece.text
    channel.length -= length
    channel.clearedLength -= length
    channel.checkedLength -= length
    channel.sentTail = (channel.sentTail + text).slice(-CONTEXT_LENGTH)
    if (channel.precedingText !== '')
      channel.precedingText = channel.sentTail.length < CONTEXT_LENGTH ? channel.precedingText + text : ''
    return start + count
  }
}

const MAX_PASSED_TEXTS = 10_000
const MAX_PASSED_TEXT_LENGTH = 500

/** Patterns for the channels of tool calls, the channels of values in tool inputs, and the events that end a string. */
const CALL_CHANNEL_PATTERN = /tool[_-]call|function_call|\.arguments|partial_json|tool-input|custom_tool|mcp_call/
const INPUT_CHANNEL_PATTERN = /\.(?:args|input)[.[]/
const END_EVENT_PATTERN = /^content_block_stop$|\.done$|-end$/
