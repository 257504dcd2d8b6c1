import { isObject, type JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { candidateIndex } from '../canonical/candidate-index.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { textIn } from '../canonical/text-in.ts'
import type { ReadContext, StreamReader } from '../translator.ts'
import { parseAnnotations, parseSources } from './annotations.ts'
import { type ChoiceReader, createChoiceReader } from './choice-reader.ts'
import { streamError } from './error-parse.ts'
import { withExactArguments } from './object-arguments.ts'
import { chunkIn, errorOf, failureOf, namedError } from './stream.ts'
import { chunkUsage } from './usage.ts'

/**
 * Reads chunks with `choices[].delta`, as OpenAI sends them and as all the others do: choices that are empty or lack their delta, an end mark
 * that never comes, usage in any chunk.
 */
export function createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader {
  const choices: (ChoiceReader | undefined)[] = []
  const keys = { next: 0 }
  let id: string | undefined
  let model: string | undefined
  let isStarted = false
  let sources: unknown

  function observe({ event, data }: SseEvent) {
    if (data === '[DONE]') {
      end()
      return emit({ type: 'done' })
    }
    const chunk = chunkIn(data)
    if (event === 'error') return emit({ type: 'error', error: streamError(namedError(chunk, data)) })
    if (chunk === undefined && data.trim() !== '') return emit({ type: 'unreadable' })
    if (!isObject(chunk)) return // says nothing that a client could read
    const error = errorOf(chunk)
    if (error) return emit({ type: 'error', error: streamError(error) })
    id ||= textIn(chunk.id)
    model ||= textIn(chunk.model)
    const usage = chunkUsage(chunk)
    if (usage) emit({ type: 'usage', usage })
    sources = chunk.search_results ?? chunk.citations ?? sources
    const { choices: said } = withExactArguments(data, chunk)
    if (!Array.isArray(said)) return
    for (const choice of said) if (isObject(choice)) observeChoice(choice)
  }

  function observeChoice(choice: JsonObject) {
    const index = candidateIndex(choice.index)
    const failure = failureOf(choice)
    if (failure) return emit({ type: 'error', error: streamError(failure) })
    start()
    const reader = choices[index] ?? createChoiceReader({ ...context, candidate: index, keys }, emit)
    choices[index] = reader
    // A message beside the delta repeats all that was said so far (Perplexity).
    const delta = isObject(choice.delta) ? choice.delta : reader.isSilent() ? choice.message : undefined
    if (isObject(delta)) reader.observe(delta, choice.logprobs)
    if (isObject(delta) && delta.annotations) reader.cite(parseAnnotations(delta.annotations, context.losses))
    if (typeof choice.finish_reason !== 'string' || choice.finish_reason === '') return
    if (sources !== undefined) reader.cite(parseSources({ citations: sources }))
    sources = undefined
    reader.finish(choice.finish_reason)
  }

  function start() {
    if (isStarted) return
    isStarted = true
    emit({ type: 'start', ...(id && { id }), ...(model && { model }) })
  }

  function end() {
    for (const choice of choices) choice?.end()
  }

  return { observe, end }
}
