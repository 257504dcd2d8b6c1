import type { GatewayCall } from '../../feature.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { type ByteStream, isByteStream, type Reply } from '../../lib/exchange.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { createSseParser, formatSseEvent, type SseEvent } from '../../lib/sse.ts'
import { convertArrayToEvents } from '../../lib/sse-array.ts'
import { createEventSplitter } from '../../lib/sse-split.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import { type ContentFields, loadClientContentFields } from '../../protocols/formats/format.ts'
import { getFormat } from '../../protocols/formats/formats.ts'
import { type Operation, operations } from '../../protocols/formats/model-operations.ts'
import { toReply } from '../../request/call-steps.ts'
import { toJsonArray } from '../../request/codec/json-array.ts'
import { type ContentText, listContentTexts } from './content-texts.ts'

/** Edits one string in a response: a message, its reasoning, a refusal, or the JSON of a tool call's arguments. */
export interface TextEditor {
  /** Receives the next piece, which may end within a word. Returns what the client gets now; the editor may hold back the rest. */
  push(piece: string): string | Promise<string>
  /** Called when the text is complete. Returns the text that was held back. */
  end(): string | Promise<string>
}

/** Creates the editor for a string. Return `undefined` to leave the text unchanged. */
export type CreateTextEditor = (text: { readonly isReasoning: boolean }) => TextEditor | undefined

/**
 * Edits the text of a successful response in the client's format, streamed or not: `editText(call, await next(), createEditor)` in `aroundCall`.
 * Each message, reasoning text, refusal, and tool call gets its own editor. Only chat and text completions are edited; other responses stay
 * unchanged.
 */
export async function editText(
  call: Pick<GatewayCall, 'format' | 'route'>,
  response: Reply | Response,
  createEditor: CreateTextEditor,
): Promise<Reply> {
  const reply = await toReply(response)
  const { status, body, headers } = reply
  const operation = getEntry<Operation>(operations, call.route.operation.name)
  const names = operation && (await loadClientContentFields(getFormat(call.format), operation))
  if (!names || status !== 200 || body === undefined) return reply
  if (!isByteStream(body)) {
    const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
    const json = parseExactly(text)
    return isObject(json) && (await editResponse(json, names, createEditor))
      ? { ...reply, body: JSON.stringify(json) }
      : reply
  }
  const isJsonArray = headers['content-type']?.startsWith('application/json') ?? false
  if (!isJsonArray) return { ...reply, body: new EditedStream(body, names, createEditor) }
  const editedStream = new EditedStream(convertArrayToEvents(body), names, createEditor)
  const fail = (error: unknown) => failStream(body, error)
  return {
    ...reply,
    body: toJsonArray({ next: () => editedStream.next(), cancel: (reason) => editedStream.cancel(reason), fail }),
  }
}

/** Edits a complete response in place. Resolves to whether it changed anything. */
async function editResponse(json: JsonObject, names: ContentFields, createEditor: CreateTextEditor): Promise<boolean> {
  let isChanged = false
  for (const text of listContentTexts(json, names, { isEvent: false }).texts)
    if (await editContentText(text, createEditor)) isChanged = true
  if (isChanged) dropProbabilities(json)
  return isChanged
}

/** Edits a complete string. */
async function editContentText(
  { text, isReasoning, replace }: ContentText,
  createEditor: CreateTextEditor,
): Promise<boolean> {
  const editor = createEditor({ isReasoning })
  if (!editor) return false
  const editedText = (await editor.push(text)) + (await editor.end())
  replace(editedText)
  return editedText !== text
}

/** A string whose remaining pieces haven't arrived yet. */
interface UnfinishedText {
  choice: string
  editor: TextEditor | undefined
  /** The event with the text's last piece, and that piece's index among the event's pieces. */
  event: SseEvent
  textIndex: number
}

/** A stream of events with edited text. Unchanged events are passed on byte for byte. */
class EditedStream implements ByteStream {
  readonly #stream: ByteStream
  readonly #names: ContentFields
  readonly #createEditor: CreateTextEditor
  readonly #splitter = createEventSplitter()
  readonly #unfinishedTexts = new Map<string, UnfinishedText>()
  #hasEnded = false
  /** Whether an editor has failed. The stream then ends with an error event. */
  #hasFailed = false
  #lastSequenceNumber = 0
  #addedEventCount = 0

  constructor(stream: ByteStream, names: ContentFields, createEditor: CreateTextEditor) {
    this.#stream = stream
    this.#names = names
    this.#createEditor = createEditor
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#hasEnded) {
      const chunk = await this.#stream.next()
      if (this.#hasFailed) return chunk && encodeUtf8(this.#removeTexts(decodeUtf8Lenient(chunk)))
      this.#hasEnded = chunk === undefined
      const bytes = chunk ? this.#splitter.split(chunk) : this.#splitter.flush()
      try {
        let editedEvents = ''
        for (const [block] of decodeUtf8Lenient(bytes ?? EMPTY_BYTES).matchAll(EVENT_BLOCK_PATTERN))
          editedEvents += await this.#edit(block)
        if (this.#hasEnded) editedEvents += await this.#endTexts()
        if (editedEvents !== '') return encodeUtf8(editedEvents)
      } catch (error) {
        this.#hasFailed = true
        this.#hasEnded = false
        failStream(this.#stream, error)
      }
    }
    return undefined
  }

  cancel(reason?: unknown): void {
    this.#stream.cancel(reason)
  }

  /** Edits an event. If strings end with the previous events, prepends the text that their editors have held back. */
  async #edit(block: string): Promise<string> {
    const event = parseEvent(block)
    if (!event) return block
    const json = parseExactly(event.data)
    if (!isObject(json)) return (await this.#endTexts()) + block
    if (json.type === 'ping') return block
    const { texts, choices, endedChoices } = listContentTexts(json, this.#names, { isEvent: true })
    const lastIndexes = new Map(texts.flatMap(({ isDelta, channel }, index) => (isDelta ? [[channel, index]] : []))) // the index of each channel's last piece
    const completeChoices = new Set(texts.flatMap(({ isDelta, choice }) => (isDelta ? [] : [choice])))
    const isAffected = ({ choice }: UnfinishedText) => choices?.has(choice) ?? true
    const endingEvents = await this.#endTexts(
      (channel, unfinishedText) => !lastIndexes.has(channel) && isAffected(unfinishedText),
    )
    let isChanged = false
    for (const [index, text] of texts.entries()) {
      if (!text.isDelta) {
        if (await editContentText(text, this.#createEditor)) isChanged = true
        continue
      }
      const isAtEnd =
        lastIndexes.get(text.channel) === index && (endedChoices.has(text.choice) || completeChoices.has(text.choice))
      const editedDelta = await this.#editDelta(text, { event, at: index, isAtEnd })
      if (editedDelta === text.text) continue
      text.replace(editedDelta)
      isChanged = true
    }
    if (isChanged) dropProbabilities(json)
    const isRenumbered = this.#renumber(json)
    return endingEvents + (isChanged || isRenumbered ? formatSseEvent({ ...event, data: JSON.stringify(json) }) : block)
  }

  async #editDelta(
    { text, channel, choice, isReasoning }: ContentText,
    { event, at: textIndex, isAtEnd }: { event: SseEvent; at: number; isAtEnd: boolean },
  ): Promise<string> {
    const unfinishedText = this.#unfinishedTexts.get(channel)
    const editor = unfinishedText ? unfinishedText.editor : this.#createEditor({ isReasoning })
    this.#unfinishedTexts.set(channel, { choice, editor, event, textIndex })
    if (!editor) return text
    const editedDelta = await editor.push(text)
    if (!isAtEnd) return editedDelta
    this.#unfinishedTexts.delete(channel)
    return editedDelta + (await editor.end())
  }

  /** Ends strings (default: all). Returns events with the text that their editors held back. */
  async #endTexts(
    isEnding: (channel: string, unfinishedText: UnfinishedText) => boolean = () => true,
  ): Promise<string> {
    let events = ''
    for (const [channel, open] of this.#unfinishedTexts) {
      if (!isEnding(channel, open)) continue
      this.#unfinishedTexts.delete(channel)
      const remainingText = await open.editor?.end()
      if (remainingText) events += this.#createEvent(open, remainingText)
    }
    return events
  }

  /** Copies the event that has a string's last piece, but with `piece` as its only text. */
  #createEvent({ event, textIndex }: UnfinishedText, delta: string): string {
    const json = parseExactly(event.data) as JsonObject // `#edit` has already parsed this event
    for (const [position, text] of listContentTexts(json, this.#names, { isEvent: true }).texts.entries())
      text.replace(position === textIndex ? delta : '')
    dropProbabilities(json)
    this.#addedEventCount++
    if (typeof json.sequence_number === 'number') json.sequence_number = ++this.#lastSequenceNumber
    return formatSseEvent({ ...event, data: JSON.stringify(json) })
  }

  /** Removes all strings from a failed stream's final events, because they may repeat text that an editor has rejected. */
  #removeTexts(events: string): string {
    let output = ''
    for (const [block] of events.matchAll(EVENT_BLOCK_PATTERN)) {
      const event = parseEvent(block)
      const json = event && parseExactly(event.data)
      if (event && isObject(json)) {
        for (const text of listContentTexts(json, this.#names, { isEvent: true }).texts) text.replace('')
        dropProbabilities(json)
        if (typeof json.sequence_number === 'number') json.sequence_number = ++this.#lastSequenceNumber
        output += formatSseEvent({ ...event, data: JSON.stringify(json) })
      } else output += block
    }
    return output
  }

  /** Renumbers an event in the Responses format to account for added events. Returns whether the number changed. */
  #renumber(json: JsonObject): boolean {
    if (typeof json.sequence_number !== 'number') return false
    this.#lastSequenceNumber = json.sequence_number + this.#addedEventCount
    json.sequence_number = this.#lastSequenceNumber
    return this.#addedEventCount > 0
  }
}

const EMPTY_BYTES = new Uint8Array(0)

/** Matches an event with its blank line, or the rest after the last event. */
export const EVENT_BLOCK_PATTERN = /[\s\S]+?(?:\r\n\r\n|\n\n|\r\r|$(?![\s\S]))/g

export function parseEvent(block: string): SseEvent | undefined {
  let parsedEvent: SseEvent | undefined
  const parser = createSseParser((event) => {
    parsedEvent = event
  })
  parser.push(block)
  parser.end()
  return parsedEvent
}

/** Ends a stream with an error event if possible; otherwise aborts it. */
function failStream(stream: ByteStream, error: unknown): void {
  if ('fail' in stream && typeof stream.fail === 'function') stream.fail(error)
  else {
    stream.cancel(error)
    throw error
  }
}

/** Removes token probabilities, because they repeat the unedited text. */
export function dropProbabilities(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'args' || name === 'input' || typeof inner !== 'object') continue // the tool chooses the names in its own input
    if (name === 'logprobs') Object.assign(value, { [name]: Array.isArray(inner) ? [] : null })
    else if (name === 'logprobsResult') Object.assign(value, { [name]: undefined })
    else dropProbabilities(inner)
  }
}
