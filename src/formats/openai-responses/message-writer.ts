import { quoted } from '../../lib/json.ts'
import type { Citation } from '../canonical/citations.ts'
import type { RefusalPart, TextPart, TokenLogprob } from '../canonical/parts.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { wireLogprobs } from './logprobs.ts'
import { phaseOf, wireContent, wireMessage } from './output-write.ts'
import type { WireContent } from './wire.ts'

interface OpenText {
  type: 'text' | 'refusal'
  pieces: string[]
  citations: Citation[]
  logprobs: TokenLogprob[]
}

/** Writes a message of texts and refusals. Each of them begins with its first word, so that empty ones are never told. */
export function createMessageWriter(first: TextPart | RefusalPart, { context, events, index }: ItemPlace): ItemWriter {
  const id = `msg_${context.newId()}`
  const phase = phaseOf(first)
  const content: WireContent[] = []
  let text: OpenText | undefined
  let isTold = false
  let where = ''
  let deltaStart = ''

  function open({ type }: TextPart | RefusalPart) {
    text = { type, pieces: [], citations: [], logprobs: [] }
    where = `${whereabouts(id, index)},"content_index":${content.length}`
    deltaStart = `${where},"delta":`
  }

  function begin(type: OpenText['type']) {
    if (!isTold) {
      const item = { ...wireMessage(id, [], phase), status: 'in_progress' }
      events.tell('response.output_item.added', { output_index: index, item })
    }
    isTold = true
    events.tellJson(
      'response.content_part.added',
      `${where},"part":${JSON.stringify(wireContent({ type, text: '' }, context.losses))}`,
    )
  }

  function add(more: string, logprobs: TokenLogprob[] | undefined) {
    if (!text) return
    const { type, pieces } = text
    if (pieces.length === 0) begin(type)
    pieces.push(more)
    const delta = deltaStart + quoted(more)
    if (type === 'refusal') return events.tellJson('response.refusal.delta', delta)
    if (!logprobs) return events.tellJson('response.output_text.delta', `${delta},"logprobs":[]`)
    text.logprobs.push(...logprobs)
    events.tellJson('response.output_text.delta', `${delta},"logprobs":${JSON.stringify(wireLogprobs(logprobs))}`)
  }

  function contentOf({ type, pieces, citations, logprobs }: OpenText): WireContent {
    const said = pieces.join('')
    return wireContent(
      type === 'text' ? { type, text: said, citations, logprobs } : { type, text: said },
      context.losses,
    )
  }

  function end() {
    const part = text && text.pieces.length > 0 ? contentOf(text) : undefined
    text = undefined
    if (!part) return
    content.push(part)
    if (part.type === 'output_text') {
      part.annotations.forEach((annotation, at) => {
        const fields = `${where},"annotation_index":${at},"annotation":${JSON.stringify(annotation)}`
        events.tellJson('response.output_text.annotation.added', fields)
      })
      const done = `"text":${JSON.stringify(part.text)},"logprobs":${JSON.stringify(part.logprobs)}`
      events.tellJson('response.output_text.done', `${where},${done}`)
    } else events.tellJson('response.refusal.done', `${where},"refusal":${JSON.stringify(part.refusal)}`)
    events.tellJson('response.content_part.done', `${where},"part":${JSON.stringify(part)}`)
  }

  open(first)
  return {
    ...noRoom,
    open(part) {
      if (phaseOf(part) !== phase) return false
      open(part)
      return true
    },
    add,
    cite: (citation) => void text?.citations.push(citation),
    end,
    whole(status) {
      if (!isTold) return undefined
      const parts = text && text.pieces.length > 0 ? [...content, contentOf(text)] : content
      return { ...wireMessage(id, parts, phase), status }
    },
  }
}
