import { isObject, type JsonObject } from '../../../lib/json.ts'
import { isNoArguments, objectText } from '../../canonical/arguments.ts'
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../../canonical/parts.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import type { ReadContext } from '../../translator.ts'
import { parseReasoningItem, reasoningState, SUMMARY_SEPARATOR } from '../reasoning.ts'
import type { createOutputParser } from './answer.ts'

/** Reads one item of a stream. */
export interface ItemReader {
  /** The item as it is announced. */
  begin(item: JsonObject): void
  observe(type: string, event: JsonObject): void
  /** The whole item, of which the reader emits what it has not emitted yet. May be called more than once. */
  complete(item: JsonObject): void
  /** Has the part that an event is about already ended? Only for items of several parts. */
  isPast?(event: JsonObject): boolean
  end(): void
}

/** What the readers of items share. */
export interface ItemContext extends ReadContext {
  parser: ReturnType<typeof createOutputParser>
  /** Begins a part and returns its key. */
  start(part: AssistantPart): number
}

/** Reads an item that is only of use when it is complete. */
export function createWholeReader({ parser, start }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let isComplete = false

  function emitWhole(part: AssistantPart) {
    const isCall = part.type === 'tool-call' // the arguments of a call come as a delta
    const key = start(isCall ? { ...part, arguments: '' } : part)
    if (isCall && part.arguments !== '') emit({ type: 'part-delta', key, text: part.arguments })
    emit({ type: 'part-end', key })
  }

  return {
    begin() {},
    observe() {},
    complete(item) {
      if (isComplete) return
      isComplete = true
      for (const part of parser.parse(item)) emitWhole(part)
    },
    end() {},
  }
}

/** Reads a tool call: it begins once it has a name, and its arguments come by deltas, at the end, or only with the whole item. */
export function createCallReader(
  { parser, start, responseWarnings }: ItemContext,
  emit: (event: ReaderEvent) => void,
): ItemReader {
  let key: number | undefined
  let held: string[] = [] // arguments that came before the name
  let hasInput = false
  let isFreeForm = false
  let isPlaceholder = false // `{}` or `null` so far, perhaps only a placeholder before the arguments
  let isClosed = false

  function begin(item: JsonObject) {
    if (key !== undefined || typeof item.name !== 'string' || item.name === '') return
    const part: ToolCallPart = { type: 'tool-call', id: parser.callId(item), name: item.name, arguments: '' }
    if (isFreeForm) part.isFreeForm = true
    key = start(part)
    for (const piece of held) emitText(piece)
    held = []
  }

  function add(more: unknown) {
    const text = isObject(more) ? objectText(more) : more
    if (typeof text !== 'string' || text === '') return
    if (!hasInput && isNoArguments(text) && !isFreeForm) isPlaceholder = true
    else {
      if (!text.trimStart().startsWith('{')) settlePlaceholder()
      isPlaceholder = false
      emitText(text)
    }
    hasInput = true
  }

  function settlePlaceholder() {
    if (isPlaceholder) emitText('{}')
    isPlaceholder = false
  }

  function emitText(text: string) {
    if (key === undefined) held.push(text)
    else emit({ type: 'part-delta', key, text })
  }

  function addWhole(whole: unknown) {
    if (!hasInput) add(whole)
  }

  function end() {
    if (isClosed) return
    isClosed = true
    settlePlaceholder()
    if (key === undefined)
      responseWarnings.noteDropped('function_call') // without a name it cannot be run
    else emit({ type: 'part-end', key })
  }

  return {
    /** Without an id the call waits for the whole item. */
    begin(item) {
      isFreeForm = item.type === 'custom_tool_call'
      if (item.call_id) begin(item)
    },
    observe(type, event) {
      if (isClosed) return
      if (type.endsWith('.delta')) add(event.delta)
      else addWhole(event.arguments ?? event.input)
    },
    complete(item) {
      if (isClosed) return
      isFreeForm = item.type === 'custom_tool_call'
      begin(item)
      addWhole(item.arguments ?? item.input)
      end()
    },
    end,
  }
}

/** Reads reasoning: summaries, or the reasoning text if that comes first. The encrypted form comes with the whole item. */
export function createReasoningReader({ start, origin }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let open: { key: number; isSummary: boolean; place: unknown } | undefined
  let isClosed = false
  const emitted = new Set<unknown>() // the places of summaries or texts

  function add(isSummary: boolean, place: unknown, text: unknown) {
    if (typeof text !== 'string' || text === '' || (open && open.isSummary !== isSummary)) return
    if (!open) {
      const part: ReasoningPart = { type: 'reasoning', text: '' }
      if (isSummary) part.isSummary = true
      open = { key: start(part), isSummary, place }
    }
    const { key } = open
    emit({ type: 'part-delta', key, text: open.place === place ? text : SUMMARY_SEPARATOR + text })
    open.place = place
    emitted.add(place)
  }

  /** Event names: `reasoning_summary_text` and `reasoning_text`; in Open Responses `reasoning_summary` and `reasoning`. */
  function observe(type: string, event: JsonObject) {
    if (isClosed) return
    const isSummary = type.startsWith('response.reasoning_summary')
    const place = (isSummary ? event.summary_index : event.content_index) ?? 0
    if (type.endsWith('.delta')) add(isSummary, place, event.delta)
    else if (type.endsWith('.done') && !emitted.has(place)) add(isSummary, place, event.text)
  }

  function complete(item: JsonObject) {
    if (isClosed) return
    const whole = parseReasoningItem(item, origin)
    if (!open && whole) {
      const { state: _, ...part } = whole
      open = { key: start({ ...part, text: '' }), isSummary: part.isSummary === true, place: 0 }
      if (part.text !== '') emit({ type: 'part-delta', key: open.key, text: part.text })
    }
    const state = reasoningState(item, origin)
    if (open && state) emit({ type: 'part-state', key: open.key, state })
    end()
  }

  function end() {
    if (isClosed) return
    isClosed = true
    if (open) emit({ type: 'part-end', key: open.key })
  }

  return { begin() {}, observe, complete, end }
}
