import { escapeJson } from '../../../../lib/json.ts'
import { createTextBuffer, type TextBuffer } from '../../../../lib/text-buffer.ts'
import type {
  Citation,
  ReasoningPart,
  RefusalPart,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/canonical-parts.ts'
import type { OpaqueState } from '../../canonical/canonical-state.ts'
import type { WriterContext } from '../../translator.ts'
import { getPhase } from '../responses-fields.ts'
import { writeReasoning } from '../responses-reasoning.ts'
import type { WireCall, WireClientCall, WireContent, WireItemStatus, WireOutputItem } from '../responses-wire.ts'
import {
  getClientToolKind,
  setStatus,
  writeCall,
  writeClientCall,
  writeContent,
  writeLogprobs,
  writeMessage,
} from './responses-client-response.ts'

/** Writes one item in a stream, except for its last event. */
export interface ItemWriter {
  /** Opens another part of the same item. Returns false if the part doesn't belong to it. */
  openPart(part: TextPart | RefusalPart): boolean
  addDelta(text: string, logprobs: TokenLogprob[] | undefined): void
  addCitation(citation: Citation): void
  setState(state: OpaqueState): void
  /** Ends the open part, which is complete. */
  end(): void
  /** Returns the item so far, or `undefined` if none of its events were written. */
  getItem(status: WireItemStatus): WrittenItem | undefined
}

/** An output item with its JSON, which is sent twice. */
export interface WrittenItem {
  id: string
  json: string
}

export const stringifyItem = (item: WireOutputItem): WrittenItem => ({ id: item.id, json: JSON.stringify(item) })

/** The context of an item writer. */
export interface ItemPosition {
  context: WriterContext
  events: EventWriter
  /** The index among the output items. */
  index: number
}

/** Writes events with their names and sequence numbers. */
export interface EventWriter {
  write(type: string, fields: object): void
  /** Writes an event from its fields as JSON without braces, so that repeated fields are only stringified once. */
  writeJson(type: string, fields: string): void
  /** Creates a function that writes deltas that differ only in their text. `fieldsBefore` and `fieldsAfter` are their other fields. */
  createDeltaWriter(type: string, fieldsBefore: string, fieldsAfter?: string): (text: string) => void
}

/** No-op methods for items that don't support additional parts, citations, or state. */
export const unsupportedMethods = {
  openPart: () => false,
  addCitation() {},
  setState() {},
}

/** Stringifies the fields common to all of an item's events. */
export const stringifyItemFields = (id: string, index: number): string =>
  `"item_id":${JSON.stringify(id)},"output_index":${index}`

interface OpenOutputText {
  type: 'text' | 'refusal'
  buffer: TextBuffer
  citations: Citation[]
  logprobs: TokenLogprob[]
}

/** Creates a writer for a message with text parts and refusals. A part begins with its first piece of text, so empty parts are omitted. */
export function createMessageWriter(
  firstPart: TextPart | RefusalPart,
  { context, events, index }: ItemPosition,
): ItemWriter {
  const id = `msg_${context.newId()}`
  const phase = getPhase(firstPart)
  const content: string[] = [] // the parts as JSON, because each is sent three times
  let openText: OpenOutputText | undefined
  let hasStarted = false
  let itemFields = ''
  let writeDelta: (delta: string) => void

  function openContent({ type }: TextPart | RefusalPart) {
    openText = { type, buffer: createTextBuffer(), citations: [], logprobs: [] }
    itemFields = `${stringifyItemFields(id, index)},"content_index":${content.length}`
    writeDelta =
      type === 'refusal'
        ? events.createDeltaWriter('response.refusal.delta', itemFields)
        : events.createDeltaWriter('response.output_text.delta', itemFields, ',"logprobs":[]')
  }

  function startContent(type: OpenOutputText['type']) {
    if (!hasStarted)
      events.writeJson('response.output_item.added', `"output_index":${index},"item":${stringify('in_progress', [])}`)
    hasStarted = true
    events.writeJson(
      'response.content_part.added',
      `${itemFields},"part":${JSON.stringify(writeContent({ type, text: '' }, context.responseWarnings))}`,
    )
  }

  function addDelta(delta: string, logprobs: TokenLogprob[] | undefined) {
    if (!openText) return
    const { type, buffer } = openText
    if (!buffer.hasStarted) startContent(type)
    buffer.append(delta)
    if (!logprobs || type === 'refusal') return writeDelta(delta)
    openText.logprobs.push(...logprobs)
    const deltaFields = `"delta":"${escapeJson(delta)}","logprobs":${JSON.stringify(writeLogprobs(logprobs))}`
    events.writeJson('response.output_text.delta', `${itemFields},${deltaFields}`)
  }

  function createContent({ type, buffer: { text = '' }, citations, logprobs }: OpenOutputText): WireContent {
    return writeContent(
      type === 'text' ? { type, text, citations, logprobs } : { type, text },
      context.responseWarnings,
    )
  }

  function endContent() {
    const part = openText?.buffer.hasStarted ? createContent(openText) : undefined
    openText = undefined
    if (!part) return
    const json = writePartDone(part)
    events.writeJson('response.content_part.done', `${itemFields},"part":${json}`)
    content.push(json)
  }

  /** Returns the part as JSON. Stringifies its text only once, because it may be long. */
  function writePartDone(part: WireContent): string {
    if (part.type === 'refusal') {
      events.writeJson('response.refusal.done', `${itemFields},"refusal":${JSON.stringify(part.refusal)}`)
      return JSON.stringify(part)
    }
    part.annotations.forEach((annotation, annotationIndex) => {
      const fields = `${itemFields},"annotation_index":${annotationIndex},"annotation":${JSON.stringify(annotation)}`
      events.writeJson('response.output_text.annotation.added', fields)
    })
    const textField = `"text":${JSON.stringify(part.text)}`
    const logprobsField = `"logprobs":${JSON.stringify(part.logprobs)}`
    events.writeJson('response.output_text.done', `${itemFields},${textField},${logprobsField}`)
    return `{"type":"output_text",${textField},"annotations":${JSON.stringify(part.annotations)},${logprobsField}}`
  }

  /** Stringifies the message with parts that are already JSON. */
  const stringify = (status: WireItemStatus, parts: readonly string[]): string =>
    JSON.stringify({ ...writeMessage(id, [], phase), status }).replace('[]', () => `[${parts.join(',')}]`)

  openContent(firstPart)
  return {
    ...unsupportedMethods,
    openPart(part) {
      if (getPhase(part) !== phase) return false
      openContent(part)
      return true
    },
    addDelta,
    addCitation: (citation) => void openText?.citations.push(citation),
    end: endContent,
    getItem(status) {
      if (!hasStarted) return undefined
      const parts = openText?.buffer.hasStarted ? [...content, JSON.stringify(createContent(openText))] : content
      return { id, json: stringify(status, parts) }
    },
  }
}

/** Creates a writer for a tool call. Missing arguments become `{}`. Calls to tools with their own item type are written when they are complete. */
export function createCallWriter(part: ToolCallPart, position: ItemPosition): ItemWriter {
  return getClientToolKind(position.context, part.name)
    ? createClientCallWriter(part, position)
    : createArgumentsWriter(part, position)
}

function createClientCallWriter(part: ToolCallPart, position: ItemPosition): ItemWriter {
  const { context, events, index } = position
  const inputDeltas: string[] = []
  let clientCall: WireClientCall | undefined
  let fallback: ItemWriter | undefined // writes the call instead if its arguments don't fit the tool

  function writeBufferedCall() {
    if (clientCall || fallback) return
    const input = inputDeltas.join('')
    clientCall = writeClientCall(part, input, context)
    if (clientCall)
      return events.write('response.output_item.added', {
        output_index: index,
        item: { ...clientCall, status: 'in_progress' },
      })
    fallback = createArgumentsWriter(part, position)
    if (input !== '') fallback.addDelta(input, undefined)
    fallback.end()
  }

  return {
    ...unsupportedMethods,
    addDelta: (delta) => void inputDeltas.push(delta),
    end: writeBufferedCall,
    getItem(status) {
      writeBufferedCall()
      if (clientCall) setStatus(clientCall, status)
      return clientCall ? stringifyItem(clientCall) : fallback?.getItem(status)
    },
  }
}

function createArgumentsWriter(part: ToolCallPart, { context, events, index }: ItemPosition): ItemWriter {
  const call = writeCall(part, '', context)
  const itemFields = stringifyItemFields(call.id, index)
  const isFunction = call.type === 'function_call'
  const [type, field] = isFunction ? ['function_call_arguments', 'arguments'] : ['custom_tool_call_input', 'input']
  const buffer = createTextBuffer()

  const setInput = (input: string): WireCall =>
    call.type === 'function_call' ? { ...call, arguments: input } : { ...call, input }

  const writeDelta = events.createDeltaWriter(`response.${type}.delta`, itemFields)

  const startedCall = setInput('')
  setStatus(startedCall, 'in_progress')
  events.write('response.output_item.added', { output_index: index, item: startedCall })

  function addDelta(delta: string) {
    buffer.append(delta)
    writeDelta(delta)
  }

  return {
    ...unsupportedMethods,
    addDelta,
    end() {
      if (isFunction && !buffer.hasStarted) addDelta('{}')
      events.writeJson(`response.${type}.done`, `${itemFields},"${field}":${JSON.stringify(buffer.text)}`)
    },
    getItem(status) {
      const item = setInput(buffer.text ?? '')
      setStatus(item, status)
      return stringifyItem(item)
    },
  }
}

/** Creates a writer for reasoning as a summary, which clients show. Reasoning with neither text nor state is omitted. */
export function createReasoningWriter(part: ReasoningPart, { context, events, index }: ItemPosition): ItemWriter {
  const id = `rs_${context.newId()}`
  const itemFields = `${stringifyItemFields(id, index)},"summary_index":0`
  const writeDelta = events.createDeltaWriter('response.reasoning_summary_text.delta', itemFields)
  const buffer = createTextBuffer()
  let state: OpaqueState | undefined = part.state
  let hasStarted = false

  function startItem() {
    if (!hasStarted)
      events.write('response.output_item.added', { output_index: index, item: writeReasoning(id, '', undefined) })
    hasStarted = true
  }

  const writeSummary = (text: string) => `${itemFields},"part":${JSON.stringify({ type: 'summary_text', text })}`

  return {
    ...unsupportedMethods,
    addDelta(delta) {
      startItem()
      if (!buffer.hasStarted) events.writeJson('response.reasoning_summary_part.added', writeSummary(''))
      buffer.append(delta)
      writeDelta(delta)
    },
    setState(newState) {
      state = newState
    },
    end() {
      if (state) startItem()
      if (!buffer.hasStarted) return
      const { text = '' } = buffer
      events.writeJson('response.reasoning_summary_text.done', `${itemFields},"text":${JSON.stringify(text)}`)
      events.writeJson('response.reasoning_summary_part.done', writeSummary(text))
    },
    getItem: () => (hasStarted ? stringifyItem(writeReasoning(id, buffer.text ?? '', state)) : undefined),
  }
}
