import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { isEmptyArguments, stringifyObject } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import type { ReaderContext } from '../../translator.ts'
import { parseReasoningItem, readReasoningState, SUMMARY_SEPARATOR } from '../responses-reasoning.ts'
import type { createOutputParser } from './responses-provider-response.ts'

/** Reads one item in a stream. */
export interface ItemReader {
  /** Reads the item of `response.output_item.added`. */
  start(item: JsonObject): void
  observe(type: string, event: JsonObject): void
  /** Reads the complete item and emits everything that hasn't been emitted yet. Can be called more than once. */
  complete(item: JsonObject): void
  /** Returns whether the part that an event refers to has already ended. Only readers for items with several parts have this method. */
  isClosedFor?(event: JsonObject): boolean
  end(): void
}

/** The context that all item readers share. */
export interface ItemContext extends ReaderContext {
  parser: ReturnType<typeof createOutputParser>
  /** Begins a part and returns its key. */
  start(part: AssistantPart): number
}

/** Creates a reader for an item that is only useful when it is complete. */
export function createCompleteReader({ parser, start }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let isComplete = false

  function emitComplete(part: AssistantPart) {
    const isCall = part.type === 'tool-call' // a call's arguments are sent as a delta
    const key = start(isCall ? { ...part, arguments: '' } : part)
    if (isCall && part.arguments !== '') emit({ type: 'part-delta', key, text: part.arguments })
    emit({ type: 'part-end', key })
  }

  return {
    start() {},
    observe() {},
    complete(item) {
      if (isComplete) return
      isComplete = true
      for (const part of parser.parse(item)) emitComplete(part)
    },
    end() {},
  }
}

/**
 * Creates a reader for a tool call. The call begins once it has a name. Its arguments arrive in deltas, at the end, or only with the complete item.
 */
export function createCallReader(
  { parser, start, responseWarnings }: ItemContext,
  emit: (event: ReaderEvent) => void,
): ItemReader {
  let key: number | undefined
  let pendingDeltas: string[] = [] // arguments that arrived before the name
  let hasInput = false
  let isFreeForm = false
  let isPlaceholder = false // whether the input so far is `{}` or `null`, which may be a placeholder
  let isClosed = false

  function startPart(item: JsonObject) {
    if (key !== undefined || typeof item.name !== 'string' || item.name === '') return
    const part: ToolCallPart = { type: 'tool-call', id: parser.readCallId(item), name: item.name, arguments: '' }
    if (isFreeForm) part.isFreeForm = true
    key = start(part)
    for (const delta of pendingDeltas) emitText(delta)
    pendingDeltas = []
  }

  function addInput(input: unknown) {
    const text = isObject(input) ? stringifyObject(input) : input
    if (typeof text !== 'string' || text === '') return
    if (!hasInput && isEmptyArguments(text) && !isFreeForm) isPlaceholder = true
    else {
      if (!text.trimStart().startsWith('{')) resolvePlaceholder()
      isPlaceholder = false
      emitText(text)
    }
    hasInput = true
  }

  function resolvePlaceholder() {
    if (isPlaceholder) emitText('{}')
    isPlaceholder = false
  }

  function emitText(text: string) {
    if (key === undefined) pendingDeltas.push(text)
    else emit({ type: 'part-delta', key, text })
  }

  function end() {
    if (isClosed) return
    isClosed = true
    resolvePlaceholder()
    if (key === undefined)
      responseWarnings.recordDrop('function_call') // a client can't run a call without a name
    else emit({ type: 'part-end', key })
  }

  return {
    /** Begins a call that has an ID. Calls without an ID wait for the complete item. */
    start(item) {
      isFreeForm = item.type === 'custom_tool_call'
      if (item.call_id) startPart(item)
    },
    observe(type, event) {
      if (isClosed) return
      if (type.endsWith('.delta')) addInput(event.delta)
      else if (!hasInput) addInput(event.arguments ?? event.input)
    },
    complete(item) {
      if (isClosed) return
      isFreeForm = item.type === 'custom_tool_call'
      startPart(item)
      if (!hasInput) addInput(item.arguments ?? item.input)
      end()
    },
    end,
  }
}

/** Creates a reader for reasoning: summaries, or the reasoning text if that arrives first. The encrypted content arrives with the complete item. */
export function createReasoningReader({ start, origin }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  let openPart: { key: number; isSummary: boolean; partIndex: unknown } | undefined
  let isClosed = false
  const emittedIndices = new Set<unknown>() // the text parts emitted so far, by index

  function addText(isSummary: boolean, partIndex: unknown, text: unknown) {
    if (typeof text !== 'string' || text === '' || (openPart && openPart.isSummary !== isSummary)) return
    if (!openPart) {
      const part: ReasoningPart = { type: 'reasoning', text: '' }
      if (isSummary) part.isSummary = true
      openPart = { key: start(part), isSummary, partIndex }
    }
    const { key } = openPart
    emit({ type: 'part-delta', key, text: openPart.partIndex === partIndex ? text : SUMMARY_SEPARATOR + text })
    openPart.partIndex = partIndex
    emittedIndices.add(partIndex)
  }

  /**
   * Reads an event. OpenAI names these events `reasoning_summary_text` and `reasoning_text`; Open Responses names them `reasoning_summary` and
   * `reasoning`.
   */
  function observe(type: string, event: JsonObject) {
    if (isClosed) return
    const isSummary = type.startsWith('response.reasoning_summary')
    const partIndex = (isSummary ? event.summary_index : event.content_index) ?? 0
    if (type.endsWith('.delta')) addText(isSummary, partIndex, event.delta)
    else if (type.endsWith('.done') && !emittedIndices.has(partIndex)) addText(isSummary, partIndex, event.text)
  }

  function complete(item: JsonObject) {
    if (isClosed) return
    const reasoning = parseReasoningItem(item, origin)
    if (!openPart && reasoning) {
      const { state: _, ...part } = reasoning
      openPart = { key: start({ ...part, text: '' }), isSummary: part.isSummary === true, partIndex: 0 }
      if (part.text !== '') emit({ type: 'part-delta', key: openPart.key, text: part.text })
    }
    const state = readReasoningState(item, origin)
    if (openPart && state) emit({ type: 'part-state', key: openPart.key, state })
    end()
  }

  function end() {
    if (isClosed) return
    isClosed = true
    if (openPart) emit({ type: 'part-end', key: openPart.key })
  }

  return { start() {}, observe, complete, end }
}
