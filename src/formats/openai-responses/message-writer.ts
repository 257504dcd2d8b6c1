import { quoted } from '../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../lib/text-buffer.ts'
import type { Citation } from '../canonical/citations.ts'
import type { RefusalPart, TextPart, TokenLogprob } from '../canonical/parts.ts'
import { type ItemPlace, type ItemWriter, noRoom, whereabouts } from './item-writer.ts'
import { wireLogprobs } from './logprobs.ts'
import { phaseOf, wireContent, wireMessage } from './output-write.ts'
import type { WireContent } from './wire.ts'

interface OpenText {
  type: 'text' | 'refusal'
  said: TextBuffer
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
    text = { type, said: createTextBuffer(), citations: [], logprobs: [] }
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
    const { type, said } = text
    if (!said.isBegun) begin(type)
    said.add(more)
    const delta = deltaStart + quoted(more)
    if (type === 'refusal') return events.tellJson('response.refusal.delta', delta)
    if (!logprobs) return events.tellJson('response.output_text.delta', `${delta},"logprobs":[]`)
    text.logprobs.push(...logprobs)
    events.tellJson('response.output_text.delta', `${delta},"logprobs":${JSON.stringify(wireLogprobs(logprobs))}`)
  }

  function contentOf({ type, said: { text = '' }, citations, logprobs }: OpenText): WireContent {
    return wireContent(type === 'text' ? { type, text, citations, logprobs } : { type, text }, context.losses)
  }

  function end() {
    const part = text?.said.isBegun ? contentOf(text) : undefined
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
      const parts = text?.said.isBegun ? [...content, contentOf(text)] : content
      return { ...wireMessage(id, parts, phase), status }
    },
  }
}
