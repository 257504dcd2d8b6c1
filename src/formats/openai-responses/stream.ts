import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import { type StreamPlace, type StreamWatch, untouchedStream } from '../format.ts'
import { responseUsage } from './usage.ts'

/** Named events from `response.created` to the one with the whole response. An item that has only been announced is not yet an answer. */
export function watchResponseStream(): StreamWatch {
  const place: StreamPlace = {}
  const watch = { ...untouchedStream(), place, observe }

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      watch.ended = watch.closed = true
      return
    }
    const message = tryParseJson(data)
    if (!isObject(message)) return // says nothing that a client could read
    const response = isObject(message.response) ? message.response : {}
    locate(message, response)
    watch.usage = responseUsage(response.usage) ?? watch.usage
    switch (message.type ?? event) {
      case 'response.completed':
        watch.started ||= !Array.isArray(response.output) || response.output.some(saysSomething)
        watch.ended = watch.closed = true
        return
      case 'response.incomplete':
        watch.started = watch.ended = watch.closed = true
        return
      case 'response.failed':
      case 'response.cancelled':
        return fail(response.error)
      case 'error':
        return fail(message.error ?? message)
      case 'response.output_item.added':
        watch.started ||= isMeaningfulItem(message.item)
        return
      case 'response.output_item.done':
        watch.started ||= saysSomething(message.item)
        return
      default:
        if (message.error) fail(message.error)
        else
          watch.started ||=
            message.text !== '' &&
            message.delta !== '' &&
            !(typeof message.type === 'string' && announcements.has(message.type))
    }
  }

  function locate({ sequence_number: number }: JsonObject, { id, created_at, model }: JsonObject) {
    if (typeof number === 'number') place.sequence = number
    if (id) place.response = { id, created_at, model }
  }

  function fail(error: unknown) {
    watch.error ??= embeddedError(error) ?? { message: 'The provider reported an error.', status: 502 }
  }

  return watch
}

const announcements: ReadonlySet<string> = new Set([
  'keepalive',
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.content_part.added',
  'response.content_part.done',
  'response.reasoning_part.added',
  'response.reasoning_summary_part.added',
])

/** All but a message without a word in it. */
const saysSomething = (item: unknown): boolean =>
  !isObject(item) ||
  item.type !== 'message' ||
  !Array.isArray(item.content) ||
  item.content.some((part) => !isObject(part) || part.text !== '')

/** A call says in its beginning what is called. */
const isMeaningfulItem = (item: unknown): boolean =>
  isObject(item) && item.type !== 'message' && item.type !== 'reasoning'
