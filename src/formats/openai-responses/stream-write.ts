import { detachStream } from '../canonical/detach.ts'
import type { CanonicalError } from '../canonical/errors.ts'
import { oneAtATime } from '../canonical/one-at-a-time.ts'
import type { AssistantPart } from '../canonical/parts.ts'
import type { EndEvent, StreamEvent } from '../canonical/stream.ts'
import { openaiError } from '../openai-error.ts'
import type { StreamWriter, WriteContext } from '../translator.ts'
import { createCallWriter } from './call-writer.ts'
import { createCompactionWriter } from './compaction.ts'
import { createEvents } from './events.ts'
import type { ItemWriter } from './item-writer.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { createMessageWriter } from './message-writer.ts'
import { wireImage, wireSearch } from './output-write.ts'
import { outcomeOf, responseHead, unfinished } from './response.ts'
import { createThoughtWriter } from './thought-writer.ts'
import type { WireItemStatus, WireOutcome, WireOutputItem } from './wire.ts'

/**
 * Writes one item after the other, and all of them at the end. An item stays open until the next one begins, since only then it is known that
 * it has not been cut.
 */
export function createWriter(context: WriteContext, write: (event: string) => void): StreamWriter {
  const events = createEvents(write)
  const head = `"response":${JSON.stringify(responseHead(context)).slice(0, -1)},` // which is told three times
  const output: string[] = [] // as JSON, which is told twice
  let item: ItemWriter | undefined

  function start() {
    const begun = head + JSON.stringify(unfinished).slice(1)
    events.tellJson('response.created', begun)
    events.tellJson('response.in_progress', begun)
  }

  function open(part: AssistantPart) {
    switch (part.type) {
      case 'text':
      case 'refusal':
        if (!item?.open(part)) begin(() => createMessageWriter(part, place()))
        return
      case 'tool-call':
        return begin(() => createCallWriter(part, place()))
      case 'reasoning':
        return begin(() => createThoughtWriter(part, place()))
      case 'compaction':
        return begin(() => createCompactionWriter(part, place()))
      case 'server-tool':
        return show([wireSearch(part, context)], 'web_search_call')
      case 'image':
        return show(wireImage(part, context), 'image_generation_call')
      case 'audio': // its words are what there is room for
        context.losses.dropped('audio')
        open({ type: 'text', text: '' })
        if (part.transcript) item?.add(part.transcript, undefined)
    }
  }

  const place = () => ({ context, events, index: output.length })

  function begin(create: () => ItemWriter) {
    close('completed')
    item = create()
  }

  function close(status: WireItemStatus) {
    const done = item?.whole(status)
    item = undefined
    if (done) tellDone(done)
  }

  function tellDone(done: WireOutputItem) {
    const item = JSON.stringify(done)
    events.tellJson('response.output_item.done', `"output_index":${output.length},"item":${item}`)
    output.push(item)
    if (context.request.client?.isKept) context.keepItem?.(done.id, item)
  }

  /** Items that are complete from their start. */
  function show(items: readonly WireOutputItem[], type: string) {
    for (const whole of items) {
      close('completed')
      const place = { output_index: output.length, item_id: whole.id }
      const begun = { ...whole, status: 'in_progress', ...('result' in whole && { result: null }) }
      events.tell('response.output_item.added', { output_index: output.length, item: begun })
      events.tell(`response.${type}.in_progress`, place)
      events.tell(`response.${type}.completed`, place)
      tellDone(whole)
    }
  }

  function end({ finishes, usage }: EndEvent) {
    const outcome = outcomeOf(finishes[0] ?? { reason: 'stop' }, usage, context)
    close(outcome.status === 'completed' ? 'completed' : 'incomplete')
    context.beforeEnd?.()
    tellResponse(`response.${outcome.status}`, outcome, output)
  }

  function tellResponse(type: string, outcome: WireOutcome, items: readonly string[]) {
    const { output: _, ...rest } = outcome
    events.tellJson(type, `${head}${JSON.stringify(rest).slice(1, -1)},"output":[${items.join(',')}]}`)
  }

  /** Flat as the types of OpenAI's client have it, and nested as it is really sent. */
  function fail(failure: CanonicalError) {
    context.beforeEnd?.()
    const error = openaiError(failure)
    const { code, message, param, type } = error
    events.tell('error', { code, message, param, error })
    const partial = item?.whole('incomplete')
    const failed = {
      ...unfinished,
      status: 'failed' as const,
      error: { code: code ?? type, message },
    }
    tellResponse('response.failed', failed, partial ? [...output, JSON.stringify(partial)] : output)
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
        return item?.sign(event.state)
      case 'part-end':
        return item?.end()
      case 'end':
        return end(event)
      case 'error':
        return fail(event.error)
    }
  }

  return { push: detachStream(oneAtATime(push)), keepAlive: () => KEEP_ALIVE }
}
