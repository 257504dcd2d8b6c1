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
  lastPieces: string[]
  citations: number
  isClosed: boolean
}

/** Creates a reader for a message with text parts and refusals. A part begins with its first piece of text. */
export function createMessageReader(
  { start, responseWarnings }: ItemContext,
  emit: (event: ReaderEvent) => void,
): ItemReader {
  const texts = new Map<unknown, StreamText>() // texts by part key
  let phase: TextPart['phase']

  function getText(partKey: unknown, type: StreamText['type']): StreamText {
    const streamText = texts.get(partKey)
    if (streamText) return streamText
    const part: TextPart = { type: 'text', text: '' }
    if (phase) part.phase = phase
    const key = start(type === 'text' ? part : { type, text: '' })
    const text = { type, key, length: 0, lastPieces: [], citations: 0, isClosed: false }
    texts.set(partKey, text)
    return text
  }

  function add(partKey: unknown, type: StreamText['type'], piece: unknown, logprobs?: unknown) {
    const tokens = parseTokenLogprobs(logprobs)
    if (typeof piece !== 'string' || (piece === '' && !tokens)) return
    const text = getText(partKey, type)
    text.length += piece.length
    text.lastPieces.push(piece)
    if (text.lastPieces.length > MAX_PIECES || piece.length > TAIL_LENGTH)
      text.lastPieces = [text.lastPieces.join('').slice(-TAIL_LENGTH)]
    const { key } = text
    emit(tokens ? { type: 'part-delta', key, text: piece, logprobs: tokens } : { type: 'part-delta', key, text: piece })
  }

  function cite(partKey: unknown, citations: readonly Citation[]) {
    if (citations.length === 0) return
    const text = getText(partKey, 'text')
    text.citations += citations.length
    for (const citation of citations) emit({ type: 'part-citation', key: text.key, citation })
  }

  /** Emits the remainder of a complete text. */
  function complete(partKey: unknown, { type, text, refusal, annotations, logprobs }: JsonObject) {
    const streamText = texts.get(partKey)
    if (streamText?.isClosed) return
    if (type === 'refusal') add(partKey, 'refusal', getRest(refusal, streamText))
    else add(partKey, 'text', getRest(text, streamText), streamText?.length ? undefined : logprobs)
    cite(partKey, parseAnnotations(annotations, responseWarnings).slice(streamText?.citations ?? 0))
  }

  function close(text: StreamText | undefined) {
    if (!text || text.isClosed) return
    text.isClosed = true
    emit({ type: 'part-end', key: text.key })
  }

  function observe(type: string, event: JsonObject) {
    const { content_index: partKey = 0 } = event
    if (texts.get(partKey)?.isClosed) return
    switch (type) {
      case 'response.output_text.delta':
        return add(partKey, 'text', event.delta, event.logprobs)
      case 'response.output_text.done':
        return complete(partKey, { type: 'output_text', text: event.text, logprobs: event.logprobs })
      case 'response.output_text.annotation.added':
        return cite(partKey, parseAnnotations([event.annotation], responseWarnings))
      case 'response.refusal.delta':
        return add(partKey, 'refusal', event.delta)
      case 'response.refusal.done':
        return complete(partKey, { type: 'refusal', refusal: event.refusal })
      case 'response.content_part.done':
        if (isObject(event.part)) complete(partKey, event.part)
        return close(texts.get(partKey))
    }
  }

  return {
    begin(item) {
      phase = parsePhase(item.phase)
    },
    observe,
    isPast: ({ content_index: partKey = 0, item }) => item === undefined && texts.get(partKey)?.isClosed === true,
    /** Matches text parts in order, because the indexes in some streams don't start at 0. */
    complete(item) {
      phase ??= parsePhase(item.phase)
      const partKeys = [...texts.keys()]
      const content = Array.isArray(item.content) ? item.content.filter(isObject) : []
      for (const part of content) dropUnknownPart(part, responseWarnings)
      content.filter(hasText).forEach((part, index) => {
        const partKey = index < partKeys.length ? partKeys[index] : `of the item ${index}`
        complete(partKey, part)
        close(texts.get(partKey))
      })
    },
    end() {
      for (const text of texts.values()) close(text)
    },
  }
}

/** How many trailing characters to keep, to check that a complete text continues the pieces. */
const TAIL_LENGTH = 256

/**
 * The number of pieces after which they are trimmed to the trailing characters. Each trim copies them, so trimming after every piece would be slow.
 */
const MAX_PIECES = 128

/** Returns the part of the text that hasn't been emitted, or an empty string if the text doesn't continue the emitted pieces. */
function getRest(
  text: unknown,
  { length, lastPieces }: Pick<StreamText, 'length' | 'lastPieces'> = EMPTY_TEXT,
): string {
  const tail = lastPieces.join('')
  return typeof text === 'string' && text.startsWith(tail, length - tail.length) ? text.slice(length) : ''
}

const EMPTY_TEXT = { length: 0, lastPieces: [] }

const hasText = (part: JsonObject): boolean => Boolean(part.text || part.refusal)
