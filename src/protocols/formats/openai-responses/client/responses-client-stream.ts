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
import { inProgress } from '../responses-stream-state.ts'
import type { WireItemStatus, WireOutcome, WireOutputItem } from '../responses-wire.ts'
import { createCompactionWriter } from './responses-client-compaction.ts'
import { writeHead, writeImage, writeOutcome, writeSearch } from './responses-client-response.ts'
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
  const head = `"response":${JSON.stringify(writeHead(context)).slice(0, -1)},` // stringified once, because it is sent three times
  const output: string[] = [] // the items as JSON, because each is sent twice
  let item: ItemWriter | undefined

  function start() {
    const fields = head + JSON.stringify(inProgress).slice(1)
    events.writeJson('response.created', fields)
    events.writeJson('response.in_progress', fields)
  }

  function open(part: AssistantPart) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (!item?.open(part)) begin(() => createMessageWriter(part, getPosition()))
        return
      case 'tool-call':
        return begin(() => createCallWriter(part, getPosition()))
      case 'reasoning':
        return begin(() => createReasoningWriter(part, getPosition()))
      case 'compaction':
        return begin(() => createCompactionWriter(part, getPosition()))
      case 'server-tool':
        return writeWhole([writeSearch(part, context)], 'web_search_call')
      case 'image':
        return writeWhole(writeImage(part, context), 'image_generation_call')
      case 'audio': // the format has no audio, so the transcript is sent as text
        context.responseWarnings.recordDrop('audio')
        open({ type: 'text', text: '' })
        if (part.transcript) item?.add(part.transcript, undefined)
        return
      default:
        return assertNever(part)
    }
  }

  const getPosition = () => ({ context, events, index: output.length })

  function begin(create: () => ItemWriter) {
    close('completed')
    item = create()
  }

  function close(status: WireItemStatus) {
    const done = item?.getItem(status)
    item = undefined
    if (done) writeDone(done)
  }

  function writeDone({ id, json }: WrittenItem) {
    events.writeJson('response.output_item.done', `"output_index":${output.length},"item":${json}`)
    output.push(json)
    if (context.request.client?.isKept) context.storeItem?.(id, json)
  }

  /** Writes items that are complete when they begin. */
  function writeWhole(items: readonly WireOutputItem[], type: string) {
    for (const wireItem of items) {
      close('completed')
      const fields = { output_index: output.length, item_id: wireItem.id }
      const startedItem = { ...wireItem, status: 'in_progress', ...('result' in wireItem && { result: null }) }
      events.write('response.output_item.added', { output_index: output.length, item: startedItem })
      events.write(`response.${type}.in_progress`, fields)
      events.write(`response.${type}.completed`, fields)
      writeDone(stringifyItem(wireItem))
    }
  }

  function end({ finishes, usage }: EndEvent) {
    const outcome = writeOutcome(finishes[0] ?? { reason: 'stop' }, usage, context)
    close(outcome.status === 'completed' ? 'completed' : 'incomplete')
    context.beforeEnd?.()
    writeResponse(`response.${outcome.status}`, outcome, output)
  }

  function writeResponse(type: string, outcome: WireOutcome, items: readonly string[]) {
    const { output: _, ...rest } = outcome
    events.writeJson(type, `${head}${JSON.stringify(rest).slice(1, -1)},"output":[${items.join(',')}]}`)
  }

  /** Ends the stream with an error. Its fields are both flat, as in the types of OpenAI's client, and nested, as OpenAI actually sends them. */
  function fail(failure: CanonicalError) {
    context.beforeEnd?.()
    const error = writeOpenAIError(failure)
    const { code, message, param, type } = error
    events.write('error', { code, message, param, error })
    const partial = item?.getItem('incomplete')
    const failed = {
      ...inProgress,
      status: 'failed' as const,
      error: { code: code ?? type, message },
    }
    writeResponse('response.failed', failed, partial ? [...output, partial.json] : output)
  }

  function push(event: StreamEvent) {
    switch (event.type) {
      case 'part-delta':
        return item?.add(event.text, event.logprobs)
      case 'start':
        return start()
      case 'part-start':
        return open(event.part)
      case 'part-citation':
        return item?.cite(event.citation)
      case 'part-state':
        return item?.setState(event.state)
      case 'part-end':
        return item?.end()
      case 'end':
        return end(event)
      case 'error':
        return fail(event.error)
      default:
        return assertNever(event)
    }
  }

  return { push: moveStreamStateToReasoning(serializeParts(push)), keepAlive: () => COMMENT_KEEP_ALIVE }
}

function createEventWriter(write: (event: string) => void): EventWriter {
  let next = 0

  /** Writes the start of an event, up to its sequence number. */
  const createHead = (type: string) => `event: ${type}\ndata: {"type":"${type}","sequence_number":`

  function writeJson(type: string, fields: string) {
    write(`${createHead(type)}${next++},${fields}}\n\n`)
  }

  return {
    writeJson,
    write: (type, fields) => writeJson(type, JSON.stringify(fields).slice(1, -1)),
    createDeltaWriter(type, before, after = '') {
      const head = createHead(type)
      const middle = `,${before},"delta":"`
      const tail = `"${after}}\n\n`
      return (text) => write(`${head}${next++}${middle}${escapeJson(text)}${tail}`)
    },
  }
}
