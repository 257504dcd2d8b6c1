import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import { type StreamWatch, untouchedStream } from '../format.ts'
import { chunkUsage } from './usage.ts'

/**
 * Chunks with `choices[].delta`, closed by a finish reason or `[DONE]`. A chunk that only names the role is not yet an answer, nor is the end of
 * a turn in which nothing was said; completions as they were before chats may be empty.
 */
export function watchChatStream(): StreamWatch {
  const watch = { ...untouchedStream(), observe }

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      watch.ended = watch.closed = true
      return
    }
    const chunk = chunkIn(data)
    if (event === 'error') watch.error ??= embeddedError(namedError(chunk, data))
    if (!isObject(chunk)) return // says nothing that a client could read
    const error = errorOf(chunk) ?? errorInChoices(chunk.choices)
    watch.error ??= embeddedError(error)
    watch.usage = chunkUsage(chunk) ?? watch.usage
    if (error || !Array.isArray(chunk.choices)) return
    for (const choice of chunk.choices) {
      if (!isObject(choice)) continue
      const { delta, text, finish_reason: finish } = choice
      if (finish) watch.ended = true
      watch.started ||= hasContent(delta) || Boolean(text) || Boolean(finish && !(delta && finish === 'stop'))
    }
  }

  return watch
}

/** The JSON of an event. Google puts its errors into arrays, also for clients of OpenAI's. */
export function chunkIn(data: string): unknown {
  const value = tryParseJson(data)
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return isObject(first) && first.error ? first : value
}

/** Some servers of models send the error itself, without an envelope. */
export const errorOf = (chunk: JsonObject): unknown => chunk.error ?? (chunk.object === 'error' ? chunk : undefined)

export function errorInChoices(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    const failure = isObject(choice) && failureOf(choice)
    if (failure) return failure
  }
  return undefined
}

/** OpenRouter and Z.ai tell of a failure behind them in a choice that finishes so. */
export const failureOf = ({ error, finish_reason: reason }: JsonObject): unknown =>
  error || (reason === 'error' || reason === 'network_error' ? FAILED : undefined)

const FAILED = 'The provider says that its answer ended in an error.'

/** What an event that is called `error` says: no provider of this format names its other events. */
export const namedError = (chunk: unknown, data: string): unknown =>
  (isObject(chunk) ? (chunk.error ?? chunk) : data) || 'The provider reported an error.'

function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false
  for (const name in delta) {
    const value = delta[name]
    if (name !== 'role' && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)) return true
  }
  return false
}
