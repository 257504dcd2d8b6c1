import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { Citation, TextPart } from '../../canonical/canonical-parts.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { parseTokenLogprobs } from '../../openai-fields.ts'
import { parseAnnotations } from '../responses-fields.ts'
import { dropUnknownPart, parsePhase } from './responses-provider-response.ts'
import type { ItemContext, ItemReader } from './responses-provider-stream-items.ts'

interface StreamText {
  type: 'text' | 'refusal'
  key: number
  /** The length of the text so far, and its last pieces. */
  length: number
  lastDeltas: string[]
  citationCount: number
  isClosed: boolean
}

/** Creates a reader for a message with text parts and refusals. A part begins with its first piece of text. */
export function createMessageReader(
  { start, responseWarnings }: ItemContext,
  emit: (event: ReaderEvent) => void,
): ItemReader {
  const texts = new Map<unknown, StreamText>() // texts by part key
  let phase: TextPart['phase']

  function getStreamText(partKey: unknown, type: StreamText['type']): StreamText {
    const streamText = texts.get(partKey)
    if (streamText) return streamText
    const part: TextPart = { type: 'text', text: '' }
    if (phase) part.phase = phase
    const key = start(type === 'text' ? part : { type, text: '' })
    const newText = { type, key, length: 0, lastDeltas: [], citationCount: 0, isClosed: false }
    texts.set(partKey, newText)
    return newText
  }

  function addDelta(partKey: unknown, type: StreamText['type'], delta: unknown, logprobs?: unknown) {
    const tokens = parseTokenLogprobs(logprobs)
    if (typeof delta !== 'string' || (delta === '' && !tokens)) return
    const streamText = getStreamText(partKey, type)
    streamText.length += delta.length
    streamText.lastDeltas.push(delta)
    if (streamText.lastDeltas.length > MAX_BUFFERED_DELTAS || delta.length > COMPARED_TAIL_LENGTH)
      streamText.lastDeltas = [streamText.lastDeltas.join('').slice(-COMPARED_TAIL_LENGTH)]
    const { key } = streamText
    emit(tokens ? { type: 'part-delta', key, text: delta, logprobs: tokens } : { type: 'part-delta', key, text: delta })
  }

  function addCitations(partKey: unknown, citations: readonly Citation[]) {
    if (citations.length === 0) return
    const streamText = getStreamText(partKey, 'text')
    streamText.citationCount += citations.length
    for (const citation of citations) emit({ type: 'part-citation', key: streamText.key, citation })
  }

  /** Emits the remainder of a complete text. */
  function completePart(partKey: unknown, { type, text, refusal, annotations, logprobs }: JsonObject) {
    const streamText = texts.get(partKey)
    if (streamText?.isClosed) return
    if (type === 'refusal') addDelta(partKey, 'refusal', getMissingText(refusal, streamText))
    else addDelta(partKey, 'text', getMissingText(text, streamText), streamText?.length ? undefined : logprobs)
    addCitations(partKey, parseAnnotations(annotations, responseWarnings).slice(streamText?.citationCount ?? 0))
  }

  function closeText(text: StreamText | undefined) {
    if (!text || text.isClosed) return
    text.isClosed = true
    emit({ type: 'part-end', key: text.key })
  }

  function observe(type: string, event: JsonObject) {
    const { content_index: partKey = 0 } = event
    if (texts.get(partKey)?.isClosed) return
    switch (type) {
      case 'response.output_text.delta':
        return addDelta(partKey, 'text', event.delta, event.logprobs)
      case 'response.output_text.done':
        return completePart(partKey, { type: 'output_text', text: event.text, logprobs: event.logprobs })
      case 'response.output_text.annotation.added':
        return addCitations(partKey, parseAnnotations([event.annotation], responseWarnings))
      case 'response.refusal.delta':
        return addDelta(partKey, 'refusal', event.delta)
      case 'response.refusal.done':
        return completePart(partKey, { type: 'refusal', refusal: event.refusal })
      case 'response.content_part.done':
        if (isObject(event.part)) completePart(partKey, event.part)
        return closeText(texts.get(partKey))
    }
  }

  return {
    start(item) {
      phase = parsePhase(item.phase)
    },
    observe,
    isClosedFor: ({ content_index: partKey = 0, item }) => item === undefined && texts.get(partKey)?.isClosed === true,
    /** Matches text parts in order, because the indexes in some streams don't start at 0. */
    complete(item) {
      phase ??= parsePhase(item.phase)
      const partKeys = [...texts.keys()]
      const content = Array.isArray(item.content) ? item.content.filter(isObject) : []
      for (const part of content) dropUnknownPart(part, responseWarnings)
      content.filter(hasText).forEach((part, index) => {
        const partKey = index < partKeys.length ? partKeys[index] : `of the item ${index}`
        completePart(partKey, part)
        closeText(texts.get(partKey))
      })
    },
    end() {
      for (const text of texts.values()) closeText(text)
    },
  }
}

/** How many trailing characters to keep, to check that a complete text continues the pieces. */
const COMPARED_TAIL_LENGTH = 256

/**
 * The number of pieces after which they are trimmed to the trailing characters. Each trim copies them, so trimming after every piece would be slow.
 */
const MAX_BUFFERED_DELTAS = 128

/** Returns the part of the text that hasn't been emitted, or an empty string if the text doesn't continue the emitted deltas. */
function getMissingText(
  text: unknown,
  { length, lastDeltas }: Pick<StreamText, 'length' | 'lastDeltas'> = EMPTY_TEXT,
): string {
  const tail = lastDeltas.join('')
  return typeof text === 'string' && text.startsWith(tail, length - tail.length) ? text.slice(length) : ''
}

const EMPTY_TEXT = { length: 0, lastDeltas: [] }

const hasText = (part: JsonObject): boolean => Boolean(part.text || part.refusal)
