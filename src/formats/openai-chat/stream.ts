import { isObject, tryParseJson } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { embeddedError } from '../embedded-error.ts'
import type { EmbeddedError, StreamWatch, TokenUsage } from '../format.ts'
import { chatUsage } from './usage.ts'

/** Chunks with `choices[].delta`, closed by a finish reason or `[DONE]`. A chunk that only names the role is not yet an answer. */
export function watchChatStream(): StreamWatch {
  let started = false
  let ended = false
  let closed = false
  let error: EmbeddedError | undefined
  let usage: TokenUsage | undefined

  function observe({ data }: SseEvent) {
    if (data === '[DONE]') {
      ended = closed = true
      return
    }
    const chunk = tryParseJson(data)
    if (!isObject(chunk)) return // says nothing that a client could read
    error ??= embeddedError(chunk.error)
    usage = chatUsage(chunk.usage) ?? usage
    if (chunk.error || !Array.isArray(chunk.choices)) return
    for (const choice of chunk.choices) {
      if (!isObject(choice)) continue
      if (choice.finish_reason) started = ended = true
      else if (hasContent(choice.delta)) started = true
    }
  }

  return {
    observe,
    get started() {
      return started
    },
    get ended() {
      return ended
    },
    get closed() {
      return closed
    },
    get error() {
      return error
    },
    get usage() {
      return usage
    },
  }
}

function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false
  for (const name in delta) {
    const value = delta[name]
    if (name !== 'role' && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)) return true
  }
  return false
}
