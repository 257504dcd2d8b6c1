import { isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { parseEmbeddedError } from '../../errors/parse-error.ts'
import { RestartDetector, restartError } from '../../restart-detector.ts'
import type { ReaderContext, StreamReader } from '../../translator.ts'
import { parseFinish } from '../responses-fields.ts'
import { parseEventUsage } from '../responses-stream-state.ts'
import { createOutputParser } from './responses-provider-response.ts'
import {
  createCallReader,
  createCompleteReader,
  createReasoningReader,
  type ItemContext,
  type ItemReader,
} from './responses-provider-stream-items.ts'
import { createMessageReader } from './responses-provider-stream-messages.ts'

/**
 * Reads item events. Events may be missing if a later one repeats their content. The shortest stream is a single event with the complete response. A
 * response that restarts is an error.
 */
export function createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader {
  const items = createItemRegistry()
  const outputParser = createOutputParser(context)
  const restartDetector = new RestartDetector()
  let nextKey = 0

  function startPart(part: AssistantPart): number {
    const key = nextKey++
    emit({ type: 'part-start', key, candidate: 0, part })
    return key
  }

  function observe({ event: name, data }: SseEvent) {
    if (data === '[DONE]') {
      items.end()
      return emit({ type: 'done' })
    }
    const event = tryParseJson(data)
    if (event === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(event)) return // such an event has no content
    const type = typeof event.type === 'string' ? event.type : (name ?? '')
    if (type === 'response.output_text.delta') return observeText(type, event) // nearly all events have this type
    const response = isObject(event.response) ? event.response : undefined
    switch (type) {
      case 'response.created':
        if (restartDetector.recordStart(response?.id) === 'restart') return emit({ type: 'error', error: restartError })
        return response && startResponse(response)
      case 'response.queued':
      case 'response.in_progress':
        reportUsage(event)
        return response && startResponse(response)
      case 'response.completed':
      case 'response.incomplete':
        return response && finishResponse(event, response)
      case 'response.failed':
      case 'response.cancelled':
        return reportFailure(event, response?.error)
      case 'error':
        return reportFailure(event, event.error ?? event)
      default:
        if (event.error) return reportFailure(event, event.error)
        return observeItem(type, event)
    }
  }

  function startResponse({ id, model }: JsonObject) {
    emit({ type: 'start', ...(isNonEmptyString(id) && { id }), ...(isNonEmptyString(model) && { model }) })
  }

  function reportFailure(event: JsonObject, error: unknown) {
    reportUsage(event)
    emit({ type: 'error', error: parseEmbeddedError(error) })
  }

  function reportUsage(event: JsonObject) {
    const usage = parseEventUsage(event)
    if (usage) emit({ type: 'usage', usage })
  }

  /** Forwards text to its reader. Most text events have a known item's index, which is enough to find the reader. */
  function observeText(type: string, event: JsonObject) {
    const { output_index: index } = event
    const reader = index === undefined ? undefined : items.getReader(index)
    if (reader) reader.observe(type, event)
    else observeItem(type, event)
  }

  function observeItem(type: string, event: JsonObject) {
    const item = isObject(event.item) ? event.item : undefined
    const itemKey = items.findItemKey(type, event)
    const knownReader = itemKey === undefined ? undefined : items.getReader(itemKey)
    const reader = knownReader ?? findReader(type, itemKey, item)
    if (!item) return reader?.observe(type, event)
    if (type !== 'response.output_item.done') return reader?.start(item)
    reader?.complete(item)
    items.markDone(itemKey)
  }

  function findReader(type: string, itemKey: unknown, item: JsonObject | undefined): ItemReader | undefined {
    const kind = getKind(type, item)
    return (itemKey === undefined ? items.getLastReader(type, kind) : undefined) ?? openItem(itemKey, kind)
  }

  function openItem(itemKey: unknown, kind: unknown): ItemReader | undefined {
    if (kind === undefined) return undefined // the event isn't about an item
    restartDetector.recordContent()
    const reader = createItemReader(kind, { ...context, parser: outputParser, start: startPart }, emit)
    items.add(itemKey, kind, reader)
    return reader
  }

  /** Ends the stream with the complete response, which completes open items and adds items that no event announced. */
  function finishResponse(event: JsonObject, response: JsonObject) {
    if (items.isEmpty()) startResponse(response)
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    for (const { item, reader = openItem(item, item.type) } of items.pairWithReaders(output)) reader?.complete(item)
    items.end()
    reportUsage(event)
    emit({ type: 'finish', candidate: 0, finish: parseFinish(response) })
    emit({ type: 'done' })
  }

  return { observe, end: items.end }
}

const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

interface RegisteredItem {
  /** The item's `type`. */
  kind: unknown
  reader: ItemReader
  itemKey: unknown
  /** True once the complete item has arrived. Later events can't refer to it. */
  isDone: boolean
}

/**
 * Finds a stream's items by key: the index in the output, or an ID. Some providers change an item's IDs within a stream, and others send IDs without
 * indexes. An event with neither, or with an unknown ID, is about the last item of its kind, because each item ends before the next one begins.
 */
function createItemRegistry() {
  const items = new Map<unknown, RegisteredItem>() // items by item key
  const keysById = new Map<unknown, unknown>() // item keys by item ID and call ID
  const lastByKind = new Map<unknown, RegisteredItem>()
  let lastItem: RegisteredItem | undefined
  const readersByKind = new Map<unknown, ItemReader[]>() // readers by item type, in order

  /** Returns the key of the last item of a kind if an event with unknown IDs may refer to it. */
  function findLastItemKey(event: JsonObject, kind: unknown): unknown {
    const lastOfKind = lastByKind.get(kind)
    return !lastOfKind || lastOfKind.isDone || lastOfKind.reader.isClosedFor?.(event) ? undefined : lastOfKind.itemKey
  }

  return {
    isEmpty: () => items.size === 0,

    /** Finds the key of the item that an event is about. */
    findItemKey(type: string, event: JsonObject): unknown {
      const { output_index: index } = event
      const item = isObject(event.item) ? event.item : undefined
      if (!item && index !== undefined) return index
      const isNewItem = type === 'response.output_item.added' // a new item never matches an existing one, because another call may have the same ID
      const ids = [event.item_id, item?.id, item?.call_id].filter(Boolean)
      const existingKey = keysById.get(isNewItem ? ids[0] : ids.find((id) => keysById.has(id)))
      const itemKey =
        index ??
        existingKey ??
        (isNewItem || ids.length === 0 ? undefined : findLastItemKey(event, getKind(type, item))) ??
        ids[0]
      for (const id of ids) keysById.set(id, itemKey)
      return itemKey
    },

    markDone(itemKey: unknown) {
      const item = items.get(itemKey)
      if (item) item.isDone = true
    },

    getReader: (itemKey: unknown): ItemReader | undefined => items.get(itemKey)?.reader,

    /** Returns the last item's reader if an event without an index and IDs may be about that item. Part events fit several kinds of items. */
    getLastReader(type: string, kind: unknown): ItemReader | undefined {
      if (type === 'response.output_item.added') return undefined
      return kind === lastItem?.kind || type.startsWith('response.content_part.') ? lastItem?.reader : undefined
    },

    /** Adds an item, and ends any other item with the same key. */
    add(itemKey: unknown, kind: unknown, reader: ItemReader) {
      items.get(itemKey)?.reader.end()
      lastItem = { kind, reader, itemKey, isDone: false }
      lastByKind.set(kind, lastItem)
      items.set(itemKey, lastItem)
      const sameKindReaders = readersByKind.get(kind)
      if (sameKindReaders) sameKindReaders.push(reader)
      else readersByKind.set(kind, [reader])
    },

    /**
     * Pairs the entire output's items with their readers. New items have none. If all items of a kind are known, they match in order, regardless of
     * their keys. Otherwise, they match by ID and index. Unmatched items are new if the output has more items of that kind than are known.
     */
    pairWithReaders(output: readonly JsonObject[]): { item: JsonObject; reader?: ItemReader }[] {
      const totalsByKind = countKinds(output)
      const pairedCounts = new Map<unknown, number>()
      return output.flatMap((item, index) => {
        const { type: kind } = item
        const position = pairedCounts.get(kind) ?? 0
        pairedCounts.set(kind, position + 1)
        const readers = readersByKind.get(kind) ?? []
        const total = totalsByKind.get(kind) ?? 0
        const knownItem = items.get(keysById.get(item.id || item.call_id) ?? index)
        const matchingReader = knownItem?.kind === kind ? knownItem?.reader : undefined
        const reader = readers.length === total ? readers[position] : matchingReader
        if (reader) return { item, reader }
        return readers.length < total ? { item } : []
      })
    },

    end() {
      for (const { reader } of items.values()) reader.end()
    },
  }
}

function countKinds(output: readonly JsonObject[]): Map<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { type } of output) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

function createItemReader(kind: unknown, context: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  switch (kind) {
    case 'message':
      return createMessageReader(context, emit)
    case 'reasoning':
      return createReasoningReader(context, emit)
    case 'function_call':
    case 'custom_tool_call':
      return createCallReader(context, emit)
    default:
      return createCompleteReader(context, emit)
  }
}

const getKind = (type: string, item: JsonObject | undefined): unknown => (item ? item.type : getEventKind(type))

function getEventKind(type: string): string | undefined {
  if (/^response\.(?:output_text|refusal|content_part)\./.test(type)) return 'message'
  if (/^response\.reasoning/.test(type)) return 'reasoning'
  if (type.startsWith('response.function_call_arguments.')) return 'function_call'
  if (type.startsWith('response.custom_tool_call_input.')) return 'custom_tool_call'
  return undefined
}
