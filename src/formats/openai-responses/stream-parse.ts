import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { responseError } from './error-parse.ts'
import { createItemBook } from './item-book.ts'
import { createItemReader, type ItemReader, kindOf } from './item-reader.ts'
import { createOutputParser } from './output-parse.ts'
import { finishReasonOf } from './stop-reason.ts'
import { responseUsage } from './usage.ts'

/**
 * Reads events about items. Any event may be missing whose sense a later one has, down to a stream of one event with the whole response.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const book = createItemBook()
  const parser = createOutputParser(context)
  let next = 0

  function start(part: AssistantPart): number {
    const key = next++
    emit({ type: 'part-start', key, candidate: 0, part })
    return key
  }

  function observe({ event: name, data }: SseEvent) {
    if (data === '[DONE]') {
      book.end()
      return emit({ type: 'done' })
    }
    const event = tryParseJson(data)
    if (event === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(event)) return // says nothing that a client could read
    const type = typeof event.type === 'string' ? event.type : (name ?? '')
    const response = isObject(event.response) ? event.response : undefined
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return response && begin(response)
      case 'response.completed':
      case 'response.incomplete':
        return response && finish(response)
      case 'response.failed':
      case 'response.cancelled':
        return emit({ type: 'error', error: responseError(response?.error) })
      case 'error':
        return emit({ type: 'error', error: responseError(event.error ?? event) })
      default:
        if (event.error) return emit({ type: 'error', error: responseError(event.error) })
        return observeItem(type, event)
    }
  }

  function begin({ id, model }: JsonObject) {
    emit({ type: 'start', ...(isText(id) && { id }), ...(isText(model) && { model }) })
  }

  function observeItem(type: string, event: JsonObject) {
    const item = isObject(event.item) ? event.item : undefined
    const place = book.placeOf(type, event)
    const known = place === undefined ? undefined : book.at(place)
    const reader = known ?? other(type, place, item)
    if (!item) return reader?.observe(type, event)
    if (type !== 'response.output_item.done') return reader?.begin(item)
    reader?.complete(item)
    book.done(place)
  }

  function other(type: string, place: unknown, item: JsonObject | undefined): ItemReader | undefined {
    const kind = kindOf(type, item)
    return (place === undefined ? book.unnamed(type, kind) : undefined) ?? open(place, kind)
  }

  function open(place: unknown, kind: unknown): ItemReader | undefined {
    if (kind === undefined) return undefined // an event about something else
    const reader = createItemReader(kind, { ...context, parser, start }, emit)
    book.add(place, kind, reader)
    return reader
  }

  /** The end mark holds the whole output: it completes what is open, and tells what was never told. */
  function finish(response: JsonObject) {
    if (book.isEmpty()) begin(response)
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    for (const { item, reader = open(item, item.type) } of book.pair(output)) reader?.complete(item)
    book.end()
    const usage = responseUsage(response.usage)
    if (usage) emit({ type: 'usage', usage })
    emit({ type: 'finish', candidate: 0, finish: { reason: finishReasonOf(response) } })
    emit({ type: 'done' })
  }

  return { observe, end: book.end }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
