import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import { sourceOfUrl } from '../canonical/data-url.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import type { ReadContext } from '../translator.ts'
import { textOf } from './assistant-parse.ts'
import { audioPart } from './audio.ts'
import { finishReasonOf } from './finish-reason.ts'
import { parseLogprobs } from './logprobs.ts'
import { createThoughtReader } from './thought-reader.ts'
import { createToolCallReader } from './tool-call-reader.ts'
import { loseUnknown } from './unknown-content.ts'

/** Reads the deltas of one candidate. */
export interface ChoiceReader {
  observe(delta: JsonObject, logprobs: unknown): void
  cite(citations: readonly Citation[]): void
  finish(reason: string): void
  /** Has it said nothing yet? */
  isSilent(): boolean
  /** Tells what was held back. */
  end(): void
}

export interface ChoiceContext extends ReadContext {
  candidate: number
  /** Parts are numbered over all candidates. */
  keys: { next: number }
}

export function createChoiceReader(context: ChoiceContext, emit: (event: ReaderEvent) => void): ChoiceReader {
  const { candidate, keys, losses } = context
  let open: { type: 'text' | 'refusal'; key: number } | undefined
  let isSilent = true
  let audio: JsonObject | undefined
  const thoughts = createThoughtReader(context, start, emit)
  const calls = createToolCallReader(context, start, emit)

  function start(part: AssistantPart): number {
    const key = keys.next++
    isSilent = false
    emit({ type: 'part-start', key, candidate, part })
    return key
  }

  function say(type: 'text' | 'refusal', text: string, logprobs: unknown) {
    if (open?.type !== type) {
      close()
      thoughts.close()
      calls.closeComplete()
      open = { type, key: start({ type, text: '' }) }
    }
    const tokens = logprobs ? parseLogprobs(logprobs, losses) : undefined
    const { key } = open
    emit(tokens ? { type: 'part-delta', key, text, logprobs: tokens } : { type: 'part-delta', key, text })
  }

  function close() {
    if (open) emit({ type: 'part-end', key: open.key })
    open = undefined
  }

  function observe(delta: JsonObject, logprobs: unknown) {
    const { content, refusal, tool_calls, function_call } = delta
    if (thoughts.observe(delta)) close()
    if (typeof content === 'string') {
      if (content !== '') say('text', content, logprobs)
    } else if (Array.isArray(content)) {
      loseUnknown(content, losses)
      const text = textOf(content)
      if (text !== '') say('text', text, logprobs)
    }
    if (typeof refusal === 'string' && refusal !== '') say('refusal', refusal, logprobs)
    if (Array.isArray(tool_calls) && tool_calls.length > 0) {
      close()
      thoughts.close()
      for (const call of tool_calls) if (isObject(call)) calls.observe(call)
    } else if (isObject(function_call) && (function_call.name || function_call.arguments)) {
      close()
      calls.observe({ index: 0, function: function_call })
    }
    if (isObject(delta.audio)) audio = joinAudio(audio, delta.audio)
    if (Array.isArray(delta.images)) for (const image of delta.images) show(image)
  }

  function show(image: unknown) {
    const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : undefined
    if (typeof url !== 'string') return losses.dropped('images')
    close()
    emit({ type: 'part-end', key: start({ type: 'image', source: sourceOfUrl(url, 'image/png') }) })
  }

  function end() {
    const part = audio && audioPart(audio, losses)
    audio = undefined
    if (part) emit({ type: 'part-end', key: start(part) })
    close()
    thoughts.close()
    calls.end()
  }

  return {
    observe,
    end,
    isSilent: () => isSilent,
    cite(citations) {
      if (citations.length === 0) return
      if (open?.type !== 'text') {
        close()
        open = { type: 'text', key: start({ type: 'text', text: '' }) }
      }
      for (const citation of citations) emit({ type: 'part-citation', key: open.key, citation })
    },
    finish(reason) {
      end()
      emit({ type: 'finish', candidate, finish: { reason: finishReasonOf(reason) } })
    },
  }
}

/** Sound comes in pieces of base64, each of whole bytes, with pieces of what is said. */
function joinAudio(sofar: JsonObject | undefined, delta: JsonObject): JsonObject {
  const joined = { ...sofar, ...delta }
  for (const name of ['data', 'transcript']) {
    const before = sofar?.[name]
    const more = delta[name]
    joined[name] = typeof before === 'string' ? before + (typeof more === 'string' ? more : '') : more
  }
  return joined
}
