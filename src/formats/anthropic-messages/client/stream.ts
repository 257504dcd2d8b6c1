import { assertNever } from '../../../lib/assert-never.ts'
import { quoted } from '../../../lib/json.ts'
import type { TokenUsage } from '../../canonical/answer.ts'
import type { AssistantPart, Citation, ReasoningPart, ToolCallPart } from '../../canonical/parts.ts'
import { withoutTurns } from '../../canonical/request.ts'
import { serializeParts } from '../../canonical/serialize-parts.ts'
import { type OpaqueState, UNSIGNED } from '../../canonical/state.ts'
import { moveStreamStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../../canonical/stream.ts'
import { estimateTokens } from '../../estimate-tokens.ts'
import type { StreamWriter, WriteContext } from '../../translator.ts'
import { wireCitation } from '../citations.ts'
import { writeError } from '../errors.ts'
import { wireCounts, wireStop, wireUsage } from '../fields.ts'
import { KEEP_ALIVE } from '../stream-state.ts'
import type { WireBlock, WireBlockStart, WireDelta, WireEvent, WireTextStart } from '../wire.ts'
import { type BlockOptions, emptyMessage, hidesReasoning, toolUse, writeBlocks } from './answer.ts'
import { wireReasoning, wireSignature } from './reasoning.ts'

/**
 * Writes named events: the start of the message, one block after the other, and at the end the stop reason with all counts. Clients show by
 * the counts of the start how full the context is: these are estimated if the provider has not reported them yet.
 */
export function createWriter(givenContext: WriteContext, write: (event: string) => void): StreamWriter {
  const context: WriteContext = { ...givenContext, request: withoutTurns(givenContext.request) }
  const { turns, tools, output } = givenContext.request
  const estimatedTokens = estimateTokens({ turns, tools, output })
  const options = { isHidden: hidesReasoning(context), responseWarnings: context.responseWarnings }
  let isStarted = false
  let hasRefusal = false
  let index = 0
  let open: BlockWriter | undefined

  const events: BlockEvents = {
    start: (block) => send({ type: 'content_block_start', index, content_block: block }),
    writeDelta: (delta) => send({ type: 'content_block_delta', index, delta }),
    writeTextDelta: (type, field, text) =>
      write(
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":${quoted(text)}}}\n\n`,
      ),
    stop: () => send({ type: 'content_block_stop', index: index++ }),
  }

  function send(event: WireEvent) {
    write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  function start(usage?: TokenUsage) {
    if (isStarted) return
    isStarted = true
    const counts = usage ?? { inputTokens: estimatedTokens, outputTokens: 1 }
    send({ type: 'message_start', message: { ...emptyMessage(context), usage: wireUsage(counts) } })
  }

  function startPart({ part }: PartStartEvent) {
    start()
    hasRefusal ||= part.type === 'refusal'
    open = createBlockWriter(part, events, options)
  }

  function end({ finishes, usage }: EndEvent) {
    start()
    const [finish = { reason: 'stop' }] = finishes
    const counts = wireCounts(usage ?? { inputTokens: 0, outputTokens: 0 })
    send({
      type: 'message_delta',
      delta: { ...wireStop(finish, hasRefusal), container: null },
      usage: usage ? counts : { ...counts, ...UNKNOWN_COUNTS },
    })
    context.beforeEnd?.()
    send({ type: 'message_stop' })
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
        return open?.setState(event.state)
      case 'part-end':
        return open?.end()
      case 'end':
        return end(event)
      case 'error':
        context.beforeEnd?.()
        return write(`event: error\ndata: ${JSON.stringify(writeError(event.error).body)}\n\n`)
      default:
        return assertNever(event)
    }
  }

  return { push: moveStreamStateToReasoning(serializeParts(push)), keepAlive: () => KEEP_ALIVE }
}

/** For a count that is null, clients keep the count of the start. */
const UNKNOWN_COUNTS = { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null } as const

/** Writes one part as a block of the stream. */
interface BlockWriter {
  add(text: string): void
  cite(citation: Citation): void
  setState(state: OpaqueState): void
  end(): void
}

/** Writes the events of one block after the other. */
interface BlockEvents {
  start(block: WireBlockStart): void
  writeDelta(delta: WireDelta): void
  /** Writes a frequent kind of delta from its type, its field and the text. */
  writeTextDelta(type: WireDelta['type'], field: string, text: string): void
  stop(): void
}

function createBlockWriter(part: AssistantPart, events: BlockEvents, options: BlockOptions): BlockWriter {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return writeText(events, options)
    case 'reasoning':
      return writeReasoning(part, events, options)
    case 'tool-call':
      return writeCall(part, events)
    case 'server-tool':
    case 'compaction':
    case 'image':
    case 'audio':
      for (const block of writeBlocks(part, options)) writeWhole(block, events)
      return NO_BLOCK
    default:
      return assertNever(part)
  }
}

/** Writes a text. The block starts with its first piece of text, since clients return empty blocks, which Anthropic then refuses. */
function writeText(
  { start, writeDelta, writeTextDelta, stop }: BlockEvents,
  { responseWarnings }: BlockOptions,
): BlockWriter {
  let isOpen = false
  function open() {
    if (!isOpen) start(EMPTY_TEXT)
    isOpen = true
  }
  return {
    ...NO_BLOCK,
    add(text) {
      open()
      writeTextDelta('text_delta', 'text', text)
    },
    cite(given) {
      const citation = wireCitation(given, responseWarnings)
      if (!citation) return
      open()
      writeDelta({ type: 'citations_delta', citation })
    },
    end() {
      if (isOpen) stop()
    },
  }
}

/** Writes reasoning. The signature comes last, and shows whether reasoning without text is redacted. */
function writeReasoning(
  part: ReasoningPart,
  { start, writeDelta, writeTextDelta, stop }: BlockEvents,
  { isHidden }: BlockOptions,
): BlockWriter {
  let { state } = part
  let isOpen = false
  const hidden: string[] = []
  function open() {
    if (!isOpen) start({ type: 'thinking', thinking: '', signature: '' })
    isOpen = true
  }
  return {
    ...NO_BLOCK,
    add(text) {
      if (isHidden) return void hidden.push(text)
      open()
      writeTextDelta('thinking_delta', 'thinking', text)
    },
    setState(given) {
      state = given
    },
    end() {
      const text = hidden.join('')
      const whole = isOpen ? undefined : wireReasoning(state ? { ...part, text, state } : { ...part, text }, isHidden)
      if (whole?.type === 'redacted_thinking') start(whole)
      else if (whole) open()
      if (isOpen) writeDelta({ type: 'signature_delta', signature: state ? wireSignature(state, text) : UNSIGNED })
      if (whole || isOpen) stop()
    },
  }
}

function writeCall(part: ToolCallPart, { start, writeTextDelta, stop }: BlockEvents): BlockWriter {
  const pieces: string[] = []
  start(toolUse(part))
  return {
    ...NO_BLOCK,
    add(text) {
      if (part.isFreeForm) pieces.push(text)
      else writeTextDelta('input_json_delta', 'partial_json', text)
    },
    end() {
      if (part.isFreeForm)
        writeTextDelta('input_json_delta', 'partial_json', JSON.stringify({ input: pieces.join('') }))
      stop()
    },
  }
}

function writeWhole(block: WireBlock, { start, writeDelta, stop }: BlockEvents) {
  if (block.type === 'text') {
    start(EMPTY_TEXT)
    writeDelta({ type: 'text_delta', text: block.text })
  } else if (block.type === 'server_tool_use') {
    start({ ...block, input: {} })
    writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })
  } else start(block)
  stop()
}

const EMPTY_TEXT: WireTextStart = { type: 'text', text: '', citations: null }

const NO_BLOCK: BlockWriter = { add() {}, cite() {}, setState() {}, end() {} }
