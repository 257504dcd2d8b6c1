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
  const isArray = headers['content-type']?.startsWith('application/json') ?? false
  if (!isArray) return { ...reply, body: new EditedStream(body, names, createEditor) }
  const edited = new EditedStream(convertArrayToEvents(body), names, createEditor)
  const fail = (error: unknown) => failStream(body, error)
  return { ...reply, body: toJsonArray({ next: () => edited.next(), cancel: (reason) => edited.cancel(reason), fail }) }
}

/** Edits a complete response in place. Resolves to whether it changed anything. */
async function editResponse(json: JsonObject, names: ContentFields, create: CreateTextEditor): Promise<boolean> {
  let isChanged = false
  for (const text of listContentTexts(json, names, { isEvent: false }).texts)
    if (await editContentText(text, create)) isChanged = true
  if (isChanged) dropProbabilities(json)
  return isChanged
}

/** Edits a complete string. */
async function editContentText(
  { text, isReasoning, replace }: ContentText,
  create: CreateTextEditor,
): Promise<boolean> {
  const editor = create({ isReasoning })
  if (!editor) return false
  const edited = (await editor.push(text)) + (await editor.end())
  replace(edited)
  return edited !== text
}

/** A string whose remaining pieces haven't arrived yet. */
interface UnfinishedText {
  choice: string
  editor: TextEditor | undefined
  /** The event with the text's last piece, and that piece's index among the event's pieces. */
  event: SseEvent
  at: number
}

/** A stream of events with edited text. Unchanged events are passed on byte for byte. */
class EditedStream implements ByteStream {
  readonly #stream: ByteStream
  readonly #names: ContentFields
  readonly #create: CreateTextEditor
  readonly #splitter = createEventSplitter()
  readonly #open = new Map<string, UnfinishedText>()
  #hasEnded = false
  /** Whether an editor has failed. The stream then ends with an error event. */
  #hasFailed = false
  #lastNumber = 0
  #addedEvents = 0

  constructor(stream: ByteStream, names: ContentFields, create: CreateTextEditor) {
    this.#stream = stream
    this.#names = names
    this.#create = create
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#hasEnded) {
      const chunk = await this.#stream.next()
      if (this.#hasFailed) return chunk && encodeUtf8(this.#removeTexts(decodeUtf8Lenient(chunk)))
      this.#hasEnded = chunk === undefined
      const bytes = chunk ? this.#splitter.split(chunk) : this.#splitter.flush()
      try {
        let edited = ''
        for (const [block] of decodeUtf8Lenient(bytes ?? EMPTY_BYTES).matchAll(EVENT_BLOCK_PATTERN))
          edited += await this.#edit(block)
        if (this.#hasEnded) edited += await this.#endTexts()
        if (edited !== '') return encodeUtf8(edited)
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
    const { texts, choices, ended } = listContentTexts(json, this.#names, { isEvent: true })
    const lastIndexes = new Map(texts.flatMap(({ isPiece, channel }, index) => (isPiece ? [[channel, index]] : []))) // the index of each channel's last piece
    const complete = new Set(texts.flatMap(({ isPiece, choice }) => (isPiece ? [] : [choice])))
    const isAbout = ({ choice }: UnfinishedText) => choices?.has(choice) ?? true
    const before = await this.#endTexts((channel, open) => !lastIndexes.has(channel) && isAbout(open))
    let isChanged = false
    for (const [index, text] of texts.entries()) {
      if (!text.isPiece) {
        if (await editContentText(text, this.#create)) isChanged = true
        continue
      }
      const isAtEnd = lastIndexes.get(text.channel) === index && (ended.has(text.choice) || complete.has(text.choice))
      const edited = await this.#editPiece(text, { event, at: index, isAtEnd })
      if (edited === text.text) continue
      text.replace(edited)
      isChanged = true
    }
    if (isChanged) dropProbabilities(json)
    const isMoved = this.#number(json)
    return before + (isChanged || isMoved ? formatSseEvent({ ...event, data: JSON.stringify(json) }) : block)
  }

  async #editPiece(
    { text, channel, choice, isReasoning }: ContentText,
    { event, at, isAtEnd }: { event: SseEvent; at: number; isAtEnd: boolean },
  ): Promise<string> {
    const openText = this.#open.get(channel)
    const editor = openText ? openText.editor : this.#create({ isReasoning })
    this.#open.set(channel, { choice, editor, event, at })
    if (!editor) return text
    const edited = await editor.push(text)
    if (!isAtEnd) return edited
    this.#open.delete(channel)
    return edited + (await editor.end())
  }

  /** Ends strings (default: all). Returns events with the text that their editors held back. */
  async #endTexts(isEnding: (channel: string, open: UnfinishedText) => boolean = () => true): Promise<string> {
    let events = ''
    for (const [channel, open] of this.#open) {
      if (!isEnding(channel, open)) continue
      this.#open.delete(channel)
      const rest = await open.editor?.end()
      if (rest) events += this.#createEvent(open, rest)
    }
    return events
  }

  /** Copies the event that has a string's last piece, but with `piece` as its only text. */
  #createEvent({ event, at }: UnfinishedText, piece: string): string {
    const json = parseExactly(event.data) as JsonObject // `#edit` has already parsed this event
    for (const [position, text] of listContentTexts(json, this.#names, { isEvent: true }).texts.entries())
      text.replace(position === at ? piece : '')
    dropProbabilities(json)
    this.#addedEvents++
    if (typeof json.sequence_number === 'number') json.sequence_number = ++this.#lastNumber
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
        if (typeof json.sequence_number === 'number') json.sequence_number = ++this.#lastNumber
        output += formatSseEvent({ ...event, data: JSON.stringify(json) })
      } else output += block
    }
    return output
  }

  /** Renumbers an event in the Responses format to account for added events. Returns whether the number changed. */
  #number(json: JsonObject): boolean {
    if (typeof json.sequence_number !== 'number') return false
    this.#lastNumber = json.sequence_number + this.#addedEvents
    json.sequence_number = this.#lastNumber
    return this.#addedEvents > 0
  }
}

const EMPTY_BYTES = new Uint8Array(0)

/** Matches an event with its blank line, or the rest after the last event. */
export const EVENT_BLOCK_PATTERN = /[\s\S]+?(?:\r\n\r\n|\n\n|\r\r|$(?![\s\S]))/g

export function parseEvent(block: string): SseEvent | undefined {
  let found: SseEvent | undefined
  const parser = createSseParser((event) => {
    found = event
  })
  parser.push(block)
  parser.end()
  return found
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
