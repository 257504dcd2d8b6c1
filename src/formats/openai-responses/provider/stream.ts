import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { AnswerStarts, begunAnew } from '../../answer-starts.ts'
import type { AssistantPart } from '../../canonical/parts.ts'
import type { ReaderEvent } from '../../canonical/stream.ts'
import { parseEmbeddedError } from '../../errors/parse.ts'
import type { ReadContext, StreamReader } from '../../translator.ts'
import { finishOf } from '../fields.ts'
import { responseUsage } from '../stream-state.ts'
import { createOutputParser } from './answer.ts'
import {
  createCallReader,
  createReasoningReader,
  createWholeReader,
  type ItemContext,
  type ItemReader,
} from './stream-items.ts'
import { createMessageReader } from './stream-messages.ts'

/**
 * Reads events about items. An event may be missing if a later one repeats its content; the shortest stream is one event with the whole response.
 * A response that begins anew is an error.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const items = createItemRegistry()
  const parser = createOutputParser(context)
  const starts = new AnswerStarts()
  let next = 0

  function start(part: AssistantPart): number {
    const key = next++
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
    if (!isObject(event)) return // holds nothing that a client could read
    const type = typeof event.type === 'string' ? event.type : (name ?? '')
    const response = isObject(event.response) ? event.response : undefined
    switch (type) {
      case 'response.created':
        if (starts.start(response?.id) === 'anew') return emit({ type: 'error', error: begunAnew })
        return response && begin(response)
      case 'response.queued':
      case 'response.in_progress':
        return response && begin(response)
      case 'response.completed':
      case 'response.incomplete':
        return response && finish(response)
      case 'response.failed':
      case 'response.cancelled':
        return emit({ type: 'error', error: parseEmbeddedError(response?.error) })
      case 'error':
        return emit({ type: 'error', error: parseEmbeddedError(event.error ?? event) })
      default:
        if (event.error) return emit({ type: 'error', error: parseEmbeddedError(event.error) })
        return observeItem(type, event)
    }
  }

  function begin({ id, model }: JsonObject) {
    emit({ type: 'start', ...(isText(id) && { id }), ...(isText(model) && { model }) })
  }

  function observeItem(type: string, event: JsonObject) {
    const item = isObject(event.item) ? event.item : undefined
    const place = items.placeOf(type, event)
    const known = place === undefined ? undefined : items.at(place)
    const reader = known ?? readerOf(type, place, item)
    if (!item) return reader?.observe(type, event)
    if (type !== 'response.output_item.done') return reader?.begin(item)
    reader?.complete(item)
    items.done(place)
  }

  function readerOf(type: string, place: unknown, item: JsonObject | undefined): ItemReader | undefined {
    const kind = kindOf(type, item)
    return (place === undefined ? items.unnamed(type, kind) : undefined) ?? open(place, kind)
  }

  function open(place: unknown, kind: unknown): ItemReader | undefined {
    if (kind === undefined) return undefined // the event is not about an item
    starts.content()
    const reader = createItemReader(kind, { ...context, parser, start }, emit)
    items.add(place, kind, reader)
    return reader
  }

  /** Ends the stream with the whole response, which completes open items and adds those that no event has announced. */
  function finish(response: JsonObject) {
    if (items.isEmpty()) begin(response)
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    for (const { item, reader = open(item, item.type) } of items.pair(output)) reader?.complete(item)
    items.end()
    const usage = responseUsage(response.usage)
    if (usage) emit({ type: 'usage', usage })
    emit({ type: 'finish', candidate: 0, finish: finishOf(response) })
    emit({ type: 'done' })
  }

  return { observe, end: items.end }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

interface KnownItem {
  /** The `type` of the item. */
  kind: unknown
  reader: ItemReader
  place: unknown
  /** Has the whole item come, so that no further event is about it? */
  isDone: boolean
}

/**
 * Knows the items of a stream by their place: the index in the output, or an id. At some providers the ids of an item change within a stream; others
 * send ids without indexes. An event with neither, or with an unknown id, is about the last item of its kind, since one item ends before the next
 * begins.
 */
function createItemRegistry() {
  const items = new Map<unknown, KnownItem>() // by place
  const places = new Map<unknown, unknown>() // by the ids of items and calls
  const lasts = new Map<unknown, KnownItem>() // by kind
  let last: KnownItem | undefined
  const byKind = new Map<unknown, ItemReader[]>() // in their order

  function readerAt(place: unknown, kind: unknown): ItemReader | undefined {
    const known = items.get(place)
    return known?.kind === kind ? known?.reader : undefined
  }

  /** The place of the last item of a kind, if an event with unknown ids may be about it. */
  function lastPlace(event: JsonObject, kind: unknown): unknown {
    const known = lasts.get(kind)
    return !known || known.isDone || known.reader.isPast?.(event) ? undefined : known.place
  }

  return {
    isEmpty: () => items.size === 0,

    /** The place of the item that an event is about. */
    placeOf(type: string, event: JsonObject): unknown {
      const { output_index: index } = event
      const item = isObject(event.item) ? event.item : undefined
      if (!item && index !== undefined) return index
      const isNew = type === 'response.output_item.added' // another call may have the same id
      const ids = [event.item_id, item?.id, item?.call_id].filter(Boolean)
      const known = places.get(isNew ? ids[0] : ids.find((id) => places.has(id)))
      const place =
        index ?? known ?? (isNew || ids.length === 0 ? undefined : lastPlace(event, kindOf(type, item))) ?? ids[0]
      for (const id of ids) places.set(id, place)
      return place
    },

    /** Marks the item at a place as done. */
    done(place: unknown) {
      const known = items.get(place)
      if (known) known.isDone = true
    },

    /** The reader of the item at a place. */
    at: (place: unknown): ItemReader | undefined => items.get(place)?.reader,

    /** The reader of the last item, if an event of this kind without index and ids is about it; events about parts fit several kinds. */
    unnamed(type: string, kind: unknown): ItemReader | undefined {
      if (type === 'response.output_item.added') return undefined
      return kind === last?.kind || type.startsWith('response.content_part.') ? last?.reader : undefined
    },

    /** Adds an item; another one at the same place ends. */
    add(place: unknown, kind: unknown, reader: ItemReader) {
      items.get(place)?.reader.end()
      last = { kind, reader, place, isDone: false }
      lasts.set(kind, last)
      items.set(place, last)
      const others = byKind.get(kind)
      if (others) others.push(reader)
      else byKind.set(kind, [reader])
    },

    /**
     * The items of the whole output with their readers; new items have none. If as many items of a kind are known as the output holds, they match in
     * their order, whatever their places. Otherwise they match by ids and places, and items are new only if fewer are known.
     */
    pair(output: readonly JsonObject[]): { item: JsonObject; reader?: ItemReader }[] {
      const totals = countBy(output)
      const seen = new Map<unknown, number>()
      return output.flatMap((item, index) => {
        const { type: kind } = item
        const nth = seen.get(kind) ?? 0
        seen.set(kind, nth + 1)
        const readers = byKind.get(kind) ?? []
        const total = totals.get(kind) ?? 0
        const reader = readers.length === total ? readers[nth] : readerAt(places.get(idOf(item)) ?? index, kind)
        if (reader) return { item, reader }
        return readers.length < total ? { item } : []
      })
    },

    end() {
      for (const { reader } of items.values()) reader.end()
    },
  }
}

const idOf = (item: JsonObject | undefined): unknown => item?.id || item?.call_id || undefined

function countBy(output: readonly JsonObject[]): Map<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { type } of output) counts.set(type, (counts.get(type) ?? 0) + 1)
  return counts
}

/** Creates a reader for an item of this kind. */
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
      return createWholeReader(context, emit)
  }
}

/** The kind of item that an event is about. */
const kindOf = (type: string, item: JsonObject | undefined): unknown => (item ? item.type : kindOfEvent(type))

function kindOfEvent(type: string): string | undefined {
  if (/^response\.(?:output_text|refusal|content_part)\./.test(type)) return 'message'
  if (/^response\.reasoning/.test(type)) return 'reasoning'
  if (type.startsWith('response.function_call_arguments.')) return 'function_call'
  if (type.startsWith('response.custom_tool_call_input.')) return 'custom_tool_call'
  return undefined
}
