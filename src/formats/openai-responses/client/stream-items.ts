import { quoted } from '../../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../../lib/text-buffer.ts'
import type {
  Citation,
  ReasoningPart,
  RefusalPart,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/parts.ts'
import type { OpaqueState } from '../../canonical/state.ts'
import type { WriteContext } from '../../translator.ts'
import { phaseOf } from '../fields.ts'
import { wireReasoning } from '../reasoning.ts'
import type { WireCall, WireClientCall, WireContent, WireItemStatus, WireOutputItem } from '../wire.ts'
import { ownToolOf, setStatus, wireCall, wireContent, wireLogprobs, wireMessage, wireOwnCall } from './answer.ts'

/** Writes one item of a stream, except its last event. */
export interface ItemWriter {
  /** Opens another part of the same item; returns whether the part belongs to it. */
  open(part: TextPart | RefusalPart): boolean
  add(text: string, logprobs: TokenLogprob[] | undefined): void
  cite(citation: Citation): void
  setState(state: OpaqueState): void
  /** Ends the open part, which is complete. */
  end(): void
  /** The item so far; undefined if none of its events has been written. */
  whole(status: WireItemStatus): WireOutputItem | undefined
}

/** What the writer of an item needs. */
export interface ItemPosition {
  context: WriteContext
  events: EventWriter
  /** The index among the items of the output. */
  index: number
}

/** Writes events, each with its name and its sequence number. */
export interface EventWriter {
  write(type: string, fields: object): void
  /** Writes an event from its fields as JSON without braces, so that what repeats is stringified once. */
  writeJson(type: string, fields: string): void
}

/** The methods of an item that has no further parts, no citations and no state. */
export const unsupported = {
  open: () => false,
  cite() {},
  setState() {},
}

/** The fields that every event about an item has, as JSON. */
export const itemFields = (id: string, index: number): string =>
  `"item_id":${JSON.stringify(id)},"output_index":${index}`

interface OpenOutputText {
  type: 'text' | 'refusal'
  buffer: TextBuffer
  citations: Citation[]
  logprobs: TokenLogprob[]
}

/** Writes a message of texts and refusals. A part begins with its first piece of text, so that empty ones are left out. */
export function createMessageWriter(
  first: TextPart | RefusalPart,
  { context, events, index }: ItemPosition,
): ItemWriter {
  const id = `msg_${context.newId()}`
  const phase = phaseOf(first)
  const content: WireContent[] = []
  let text: OpenOutputText | undefined
  let isBegun = false
  let where = ''
  let deltaStart = ''

  function open({ type }: TextPart | RefusalPart) {
    text = { type, buffer: createTextBuffer(), citations: [], logprobs: [] }
    where = `${itemFields(id, index)},"content_index":${content.length}`
    deltaStart = `${where},"delta":`
  }

  function begin(type: OpenOutputText['type']) {
    if (!isBegun) {
      const item = { ...wireMessage(id, [], phase), status: 'in_progress' }
      events.write('response.output_item.added', { output_index: index, item })
    }
    isBegun = true
    events.writeJson(
      'response.content_part.added',
      `${where},"part":${JSON.stringify(wireContent({ type, text: '' }, context.responseWarnings))}`,
    )
  }

  function add(more: string, logprobs: TokenLogprob[] | undefined) {
    if (!text) return
    const { type, buffer } = text
    if (!buffer.isBegun) begin(type)
    buffer.add(more)
    const delta = deltaStart + quoted(more)
    if (type === 'refusal') return events.writeJson('response.refusal.delta', delta)
    if (!logprobs) return events.writeJson('response.output_text.delta', `${delta},"logprobs":[]`)
    text.logprobs.push(...logprobs)
    events.writeJson('response.output_text.delta', `${delta},"logprobs":${JSON.stringify(wireLogprobs(logprobs))}`)
  }

  function contentOf({ type, buffer: { text = '' }, citations, logprobs }: OpenOutputText): WireContent {
    return wireContent(type === 'text' ? { type, text, citations, logprobs } : { type, text }, context.responseWarnings)
  }

  function end() {
    const part = text?.buffer.isBegun ? contentOf(text) : undefined
    text = undefined
    if (!part) return
    content.push(part)
    if (part.type === 'output_text') {
      part.annotations.forEach((annotation, at) => {
        const fields = `${where},"annotation_index":${at},"annotation":${JSON.stringify(annotation)}`
        events.writeJson('response.output_text.annotation.added', fields)
      })
      const done = `"text":${JSON.stringify(part.text)},"logprobs":${JSON.stringify(part.logprobs)}`
      events.writeJson('response.output_text.done', `${where},${done}`)
    } else events.writeJson('response.refusal.done', `${where},"refusal":${JSON.stringify(part.refusal)}`)
    events.writeJson('response.content_part.done', `${where},"part":${JSON.stringify(part)}`)
  }

  open(first)
  return {
    ...unsupported,
    open(part) {
      if (phaseOf(part) !== phase) return false
      open(part)
      return true
    },
    add,
    cite: (citation) => void text?.citations.push(citation),
    end,
    whole(status) {
      if (!isBegun) return undefined
      const parts = text?.buffer.isBegun ? [...content, contentOf(text)] : content
      return { ...wireMessage(id, parts, phase), status }
    },
  }
}

/** Writes a tool call; missing arguments become `{}`. A call that is an item of its own is written when it is complete. */
export function createCallWriter(part: ToolCallPart, position: ItemPosition): ItemWriter {
  return ownToolOf(position.context, part.name)
    ? createOwnWriter(part, position)
    : createArgumentsWriter(part, position)
}

function createOwnWriter(part: ToolCallPart, position: ItemPosition): ItemWriter {
  const { context, events, index } = position
  const pieces: string[] = []
  let own: WireClientCall | undefined
  let other: ItemWriter | undefined // if the arguments do not fit the tool

  function write() {
    if (own || other) return
    const input = pieces.join('')
    own = wireOwnCall(part, input, context)
    if (own)
      return events.write('response.output_item.added', {
        output_index: index,
        item: { ...own, status: 'in_progress' },
      })
    other = createArgumentsWriter(part, position)
    if (input !== '') other.add(input, undefined)
    other.end()
  }

  return {
    ...unsupported,
    add: (more) => void pieces.push(more),
    end: write,
    whole(status) {
      write()
      if (own) setStatus(own, status)
      return own ?? other?.whole(status)
    },
  }
}

function createArgumentsWriter(part: ToolCallPart, { context, events, index }: ItemPosition): ItemWriter {
  const call = wireCall(part, '', context)
  const where = itemFields(call.id, index)
  const isFunction = call.type === 'function_call'
  const [type, field] = isFunction ? ['function_call_arguments', 'arguments'] : ['custom_tool_call_input', 'input']
  const buffer = createTextBuffer()

  const filled = (input: string): WireCall =>
    call.type === 'function_call' ? { ...call, arguments: input } : { ...call, input }

  const begun = filled('')
  setStatus(begun, 'in_progress')
  events.write('response.output_item.added', { output_index: index, item: begun })

  function add(more: string) {
    buffer.add(more)
    events.writeJson(`response.${type}.delta`, `${where},"delta":${JSON.stringify(more)}`)
  }

  return {
    ...unsupported,
    add,
    end() {
      if (isFunction && !buffer.isBegun) add('{}')
      events.writeJson(`response.${type}.done`, `${where},"${field}":${JSON.stringify(buffer.text)}`)
    },
    whole(status) {
      const item = filled(buffer.text ?? '')
      setStatus(item, status)
      return item
    },
  }
}

/** Writes reasoning as a summary, which clients show. Reasoning with neither text nor state is left out. */
export function createReasoningWriter(part: ReasoningPart, { context, events, index }: ItemPosition): ItemWriter {
  const id = `rs_${context.newId()}`
  const where = `${itemFields(id, index)},"summary_index":0`
  const buffer = createTextBuffer()
  let state: OpaqueState | undefined = part.state
  let isBegun = false

  function begin() {
    if (!isBegun)
      events.write('response.output_item.added', { output_index: index, item: wireReasoning(id, '', undefined) })
    isBegun = true
  }

  const summary = (text: string) => `${where},"part":${JSON.stringify({ type: 'summary_text', text })}`

  return {
    ...unsupported,
    add(more) {
      begin()
      if (!buffer.isBegun) events.writeJson('response.reasoning_summary_part.added', summary(''))
      buffer.add(more)
      events.writeJson('response.reasoning_summary_text.delta', `${where},"delta":${JSON.stringify(more)}`)
    },
    setState(given) {
      state = given
    },
    end() {
      if (state) begin()
      if (!buffer.isBegun) return
      const { text = '' } = buffer
      events.writeJson('response.reasoning_summary_text.done', `${where},"text":${JSON.stringify(text)}`)
      events.writeJson('response.reasoning_summary_part.done', summary(text))
    },
    whole: () => (isBegun ? wireReasoning(id, buffer.text ?? '', state) : undefined),
  }
}
