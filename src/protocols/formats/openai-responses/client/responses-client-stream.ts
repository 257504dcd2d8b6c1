import { assertNever } from '../../../../lib/assert-never.ts'
import { escapeJson } from '../../../../lib/json.ts'
import type { CanonicalError } from '../../canonical/canonical-errors.ts'
import type { AssistantPart } from '../../canonical/canonical-parts.ts'
import { omitTurns } from '../../canonical/canonical-request.ts'
import type { EndEvent, StreamEvent } from '../../canonical/canonical-stream.ts'
import { serializeParts } from '../../canonical/serialize-parts.ts'
import { moveStreamStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { COMMENT_KEEP_ALIVE } from '../../keep-alive-texts.ts'
import { writeOpenAIError } from '../../openai-errors.ts'
import type { StreamWriter, WriterContext } from '../../translator.ts'
import { IN_PROGRESS_OUTCOME } from '../responses-stream-state.ts'
import type { WireItemStatus, WireOutcome, WireOutputItem } from '../responses-wire.ts'
import { createCompactionWriter } from './responses-client-compaction.ts'
import { writeImage, writeOutcome, writeResponseHead, writeSearch } from './responses-client-response.ts'
import {
  createCallWriter,
  createMessageWriter,
  createReasoningWriter,
  type EventWriter,
  type ItemWriter,
  stringifyItem,
  type WrittenItem,
} from './responses-client-stream-items.ts'

/**
 * Writes the items sequentially, and the complete response at the end. An item stays open until the next one begins, which proves that the item
 * wasn't cut off.
 */
export function createWriter(fullContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...fullContext, request: omitTurns(fullContext.request) }
  const events = createEventWriter(write)
  const responseHead = `"response":${JSON.stringify(writeResponseHead(context)).slice(0, -1)},` // stringified once, because it is sent three times
  const outputItems: string[] = [] // the items as JSON, because each is sent twice
  let openItem: ItemWriter | undefined

  function startResponse() {
    const fields = responseHead + JSON.stringify(IN_PROGRESS_OUTCOME).slice(1)
    events.writeJson('response.created', fields)
    events.writeJson('response.in_progress', fields)
  }

  function openPart(part: AssistantPart) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (!openItem?.openPart(part)) startItem(() => createMessageWriter(part, getPosition()))
        return
      case 'tool-call':
        return startItem(() => createCallWriter(part, getPosition()))
      case 'reasoning':
        return startItem(() => createReasoningWriter(part, getPosition()))
      case 'compaction':
        return startItem(() => createCompactionWriter(part, getPosition()))
      case 'server-tool':
        return writeCompleteItems([writeSearch(part, context)], 'web_search_call')
      case 'image':
        return writeCompleteItems(writeImage(part, context), 'image_generation_call')
      case 'audio': // the format has no audio, so the transcript is sent as text
        context.responseWarnings.recordDrop('audio')
        openPart({ type: 'text', text: '' })
        if (part.transcript) openItem?.addDelta(part.transcript, undefined)
        return
      default:
        return assertNever(part)
    }
  }

  const getPosition = () => ({ context, events, index: outputItems.length })

  function startItem(create: () => ItemWriter) {
    closeItem('completed')
    openItem = create()
  }

  function closeItem(status: WireItemStatus) {
    const finishedItem = openItem?.getItem(status)
    openItem = undefined
    if (finishedItem) writeDone(finishedItem)
  }

  function writeDone({ id, json }: WrittenItem) {
    events.writeJson('response.output_item.done', `"output_index":${outputItems.length},"item":${json}`)
    outputItems.push(json)
    if (context.request.client?.isKept) context.storeItem?.(id, json)
  }

  /** Writes items that are complete when they begin. */
  function writeCompleteItems(items: readonly WireOutputItem[], type: string) {
    for (const wireItem of items) {
      closeItem('completed')
      const fields = { output_index: outputItems.length, item_id: wireItem.id }
      const startedItem = { ...wireItem, status: 'in_progress', ...('result' in wireItem && { result: null }) }
      events.write('response.output_item.added', { output_index: outputItems.length, item: startedItem })
      events.write(`response.${type}.in_progress`, fields)
      events.write(`response.${type}.completed`, fields)
      writeDone(stringifyItem(wireItem))
    }
  }

  function endResponse({ finishes, usage }: EndEvent) {
    const outcome = writeOutcome(finishes[0] ?? { reason: 'stop' }, usage, context)
    closeItem(outcome.status === 'completed' ? 'completed' : 'incomplete')
    context.beforeEnd?.()
    writeResponse(`response.${outcome.status}`, outcome, outputItems)
  }

  function writeResponse(type: string, outcome: WireOutcome, items: readonly string[]) {
    const { output: _, ...outcomeFields } = outcome
    events.writeJson(
      type,
      `${responseHead}${JSON.stringify(outcomeFields).slice(1, -1)},"output":[${items.join(',')}]}`,
    )
  }

  /** Ends the stream with an error. Its fields are both flat, as in the types of OpenAI's client, and nested, as OpenAI actually sends them. */
  function failResponse(failure: CanonicalError) {
    context.beforeEnd?.()
    const error = writeOpenAIError(failure)
    const { code, message, param, type } = error
    events.write('error', { code, message, param, error })
    const partialItem = openItem?.getItem('incomplete')
    const failedOutcome = {
      ...IN_PROGRESS_OUTCOME,
      status: 'failed' as const,
      error: { code: code ?? type, message },
    }
    writeResponse('response.failed', failedOutcome, partialItem ? [...outputItems, partialItem.json] : outputItems)
  }

  function push(event: StreamEvent) {
    switch (event.type) {
      case 'part-delta':
        return openItem?.addDelta(event.text, event.logprobs)
      case 'start':
        return startResponse()
      case 'part-start':
        return openPart(event.part)
      case 'part-citation':
        return openItem?.addCitation(event.citation)
      case 'part-state':
        return openItem?.setState(event.state)
      case 'part-end':
        return openItem?.end()
      case 'end':
        return endResponse(event)
      case 'error':
        return failResponse(event.error)
      default:
        return assertNever(event)
    }
  }

  return { push: moveStreamStateToReasoning(serializeParts(push)), keepAlive: () => COMMENT_KEEP_ALIVE }
}

function createEventWriter(write: (event: string) => void): EventWriter {
  let nextSequenceNumber = 0

  /** Writes the start of an event, up to its sequence number. */
  const createEventHead = (type: string) => `event: ${type}\ndata: {"type":"${type}","sequence_number":`

  function writeJson(type: string, fields: string) {
    write(`${createEventHead(type)}${nextSequenceNumber++},${fields}}\n\n`)
  }

  return {
    writeJson,
    write: (type, fields) => writeJson(type, JSON.stringify(fields).slice(1, -1)),
    createDeltaWriter(type, fieldsBefore, fieldsAfter = '') {
      const eventHead = createEventHead(type)
      const middle = `,${fieldsBefore},"delta":"`
      const eventTail = `"${fieldsAfter}}\n\n`
      return (text) => write(`${eventHead}${nextSequenceNumber++}${middle}${escapeJson(text)}${eventTail}`)
    },
  }
}
