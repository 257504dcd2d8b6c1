import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { responseError } from './error-parse.ts'
import { createItemReader, type ItemReader, kindOfEvent } from './item-reader.ts'
import { createOutputParser } from './output-parse.ts'
import { finishReasonOf } from './stop-reason.ts'
import { responseUsage } from './usage.ts'

/**
 * Reads events about items, each named by its place in the output: ids change on the way at some providers. Any event may be missing whose
 * sense a later one has, down to a stream of one event with the whole response.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const items = new Map<unknown, ItemReader>() // by place
  const told = new Map<unknown, number>() // items of each kind
  const parser = createOutputParser(context)
  let next = 0

  function start(part: AssistantPart): number {
    const key = next++
    emit({ type: 'part-start', key, candidate: 0, part })
    return key
  }

  function observe({ event: name, data }: SseEvent) {
    if (data === '[DONE]') {
      end()
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
    const place = event.output_index ?? event.item_id ?? item?.id
    const reader = items.get(place) ?? open(place, item ? item.type : kindOfEvent(type))
    if (!item) reader?.observe(type, event)
    else if (type === 'response.output_item.done') reader?.complete(item)
    else reader?.begin(item)
  }

  function open(place: unknown, kind: unknown): ItemReader | undefined {
    if (kind === undefined) return undefined // an event about something else
    const reader = createItemReader(kind, { ...context, parser, start }, emit)
    items.set(place, reader)
    told.set(kind, (told.get(kind) ?? 0) + 1)
    return reader
  }

  /**
   * The end mark holds the whole output: it completes what is open, and tells what was never told. Places may differ from those on the way:
   * an item is new only where the output has more of its kind.
   */
  function finish(response: JsonObject) {
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : []
    if (items.size === 0) begin(response)
    output.forEach((item, place) => {
      const isNew = (told.get(item.type) ?? 0) < output.filter(({ type }) => type === item.type).length
      const reader = items.get(place) ?? (isNew ? open(place, item.type) : undefined)
      reader?.complete(item)
    })
    end()
    const usage = responseUsage(response.usage)
    if (usage) emit({ type: 'usage', usage })
    emit({ type: 'finish', candidate: 0, finish: { reason: finishReasonOf(response) } })
    emit({ type: 'done' })
  }

  function end() {
    for (const item of items.values()) item.end()
  }

  return { observe, end }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
