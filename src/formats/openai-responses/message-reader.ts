import { isObject, type JsonObject } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import type { TextPart } from '../canonical/parts.ts'
import type { ReaderEvent } from '../canonical/stream.ts'
import { parseTokens } from '../openai-logprobs.ts'
import { parseAnnotations } from './annotations.ts'
import type { ItemContext, ItemReader } from './item-reader.ts'
import { loseUnknown, phaseOf } from './output-parse.ts'

interface OpenText {
  type: 'text' | 'refusal'
  key: number
  /** The length of what was told, and the end of it. */
  told: number
  tail: string
  citations: number
  isClosed: boolean
}

/** Reads a message: texts and refusals, which begin with their first word. */
export function createMessageReader({ start, losses }: ItemContext, emit: (event: ReaderEvent) => void): ItemReader {
  const texts = new Map<unknown, OpenText>() // by place
  let phase: TextPart['phase']

  function textAt(place: unknown, type: OpenText['type']): OpenText {
    const known = texts.get(place)
    if (known) return known
    const part: TextPart = { type: 'text', text: '' }
    if (phase) part.phase = phase
    const key = start(type === 'text' ? part : { type, text: '' })
    const text = { type, key, told: 0, tail: '', citations: 0, isClosed: false }
    texts.set(place, text)
    return text
  }

  function add(place: unknown, type: OpenText['type'], more: unknown, logprobs?: unknown) {
    const tokens = parseTokens(logprobs)
    if (typeof more !== 'string' || (more === '' && !tokens)) return
    const text = textAt(place, type)
    text.told += more.length
    text.tail += more
    if (text.tail.length > LONGEST_TAIL) text.tail = text.tail.slice(-TAIL)
    const { key } = text
    emit(tokens ? { type: 'part-delta', key, text: more, logprobs: tokens } : { type: 'part-delta', key, text: more })
  }

  function cite(place: unknown, citations: readonly Citation[]) {
    if (citations.length === 0) return
    const text = textAt(place, 'text')
    text.citations += citations.length
    for (const citation of citations) emit({ type: 'part-citation', key: text.key, citation })
  }

  /** A text that is complete: what has not been told of it. */
  function settle(place: unknown, { type, text, refusal, annotations, logprobs }: JsonObject) {
    const known = texts.get(place)
    if (known?.isClosed) return
    if (type === 'refusal') add(place, 'refusal', restOf(refusal, known))
    else add(place, 'text', restOf(text, known), known?.told ? undefined : logprobs)
    cite(place, parseAnnotations(annotations, losses).slice(known?.citations ?? 0))
  }

  function close(text: OpenText | undefined) {
    if (!text || text.isClosed) return
    text.isClosed = true
    emit({ type: 'part-end', key: text.key })
  }

  function observe(type: string, event: JsonObject) {
    const { content_index: place = 0, part } = event
    if (texts.get(place)?.isClosed) return
    switch (type) {
      case 'response.output_text.delta':
        return add(place, 'text', event.delta, event.logprobs)
      case 'response.output_text.done':
        return settle(place, { type: 'output_text', text: event.text, logprobs: event.logprobs })
      case 'response.output_text.annotation.added':
        return cite(place, parseAnnotations([event.annotation], losses))
      case 'response.refusal.delta':
        return add(place, 'refusal', event.delta)
      case 'response.refusal.done':
        return settle(place, { type: 'refusal', refusal: event.refusal })
      case 'response.content_part.done':
        if (isObject(part)) settle(place, part)
        return close(texts.get(place))
    }
  }

  return {
    begin(item) {
      phase = phaseOf(item.phase)
    },
    observe,
    isPast: ({ content_index: place = 0, item }) => item === undefined && texts.get(place)?.isClosed === true,
    /** Places in the item count from 0, as they do not in every stream: texts are matched in their order. */
    complete(item) {
      phase ??= phaseOf(item.phase)
      const places = [...texts.keys()]
      const content = Array.isArray(item.content) ? item.content.filter(isObject) : []
      for (const part of content) loseUnknown(part, losses)
      content.filter(isSaid).forEach((part, index) => {
        const place = index < places.length ? places[index] : `of the item ${index}`
        settle(place, part)
        close(texts.get(place))
      })
    },
    end() {
      for (const text of texts.values()) close(text)
    },
  }
}

/** How much of what was told is kept, in characters: by it a text is known to go on from there. */
const TAIL = 256
/** It is cut now and then only, since each cut is a copy. */
const LONGEST_TAIL = 4_096

/** What is said behind a beginning that was told; nothing of a text that is another. */
function restOf(text: unknown, { told, tail }: Pick<OpenText, 'told' | 'tail'> = NOTHING_TOLD): string {
  return typeof text === 'string' && text.startsWith(tail, told - tail.length) ? text.slice(told) : ''
}

const NOTHING_TOLD = { told: 0, tail: '' }

const isSaid = (part: JsonObject): boolean => Boolean(part.text || part.refusal)
