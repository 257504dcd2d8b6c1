import { quoted } from '../../lib/json.ts'
import { detachStream } from '../canonical/detach.ts'
import { oneAtATime } from '../canonical/one-at-a-time.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../canonical/stream.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import { estimateTokens } from '../estimate-tokens.ts'
import type { StreamWriter, WriteContext } from '../translator.ts'
import { emptyMessage, hidesThoughts } from './answer-write.ts'
import { type BlockEvents, type BlockWriter, createBlockWriter } from './block-writer.ts'
import { writeError } from './error-write.ts'
import { KEEP_ALIVE } from './keep-alive.ts'
import { wireStop } from './stop-reason.ts'
import { wireCounts, wireUsage } from './usage-write.ts'
import type { WireEvent } from './wire.ts'

/**
 * Writes named events: the start of the message, one block after the other, and at the end the reason with all counts. Clients show by the
 * counts of the start how much of the context is used up, so that these are an estimate while the provider has not said them.
 */
export function createWriter(context: WriteContext, write: (event: string) => void): StreamWriter {
  const terms = { isHidden: hidesThoughts(context), losses: context.losses }
  let isStarted = false
  let hasRefusal = false
  let index = 0
  let open: BlockWriter | undefined

  const events: BlockEvents = {
    start: (block) => tell({ type: 'content_block_start', index, content_block: block }),
    tell: (delta) => tell({ type: 'content_block_delta', index, delta }),
    say: (type, field, text) =>
      write(
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":${quoted(text)}}}\n\n`,
      ),
    stop: () => tell({ type: 'content_block_stop', index: index++ }),
  }

  function tell(event: WireEvent) {
    write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  function start(usage?: TokenUsage) {
    if (isStarted) return
    isStarted = true
    const { turns, tools, output } = context.request
    const counts = usage ?? { inputTokens: estimateTokens({ turns, tools, output }), outputTokens: 1 }
    tell({ type: 'message_start', message: { ...emptyMessage(context), usage: wireUsage(counts) } })
  }

  function startPart({ part }: PartStartEvent) {
    start()
    hasRefusal ||= part.type === 'refusal'
    open = createBlockWriter(part, events, terms)
  }

  function end({ finishes, usage }: EndEvent) {
    start()
    const [finish = { reason: 'stop' }] = finishes
    const counts = wireCounts(usage ?? { inputTokens: 0, outputTokens: 0 })
    tell({
      type: 'message_delta',
      delta: { ...wireStop(finish, hasRefusal), container: null },
      usage: usage ? counts : { ...counts, ...UNKNOWN },
    })
    context.beforeEnd?.()
    tell({ type: 'message_stop' })
  }

  function push(event: StreamEvent) {
    switch (event.type) {
      case 'start':
        return start(event.usage)
      case 'part-start':
        return startPart(event)
      case 'part-delta':
        return open?.add(event.text)
      case 'part-citation':
        return open?.cite(event.citation)
      case 'part-state':
        return open?.prove(event.state)
      case 'part-end':
        return open?.end()
      case 'end':
        return end(event)
      case 'error':
        context.beforeEnd?.()
        return write(`event: error\ndata: ${JSON.stringify(writeError(event.error).body)}\n\n`)
    }
  }

  return { push: detachStream(oneAtATime(push)), keepAlive: () => KEEP_ALIVE }
}

/** Counts that a client leaves as the start had them. */
const UNKNOWN = { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null } as const
