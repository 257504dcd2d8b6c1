import { assertNever } from '../../../../lib/assert-never.ts'
import { escapeJson } from '../../../../lib/json.ts'
import type { AssistantPart, Citation, ReasoningPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import { omitTurns } from '../../canonical/canonical-request.ts'
import type { TokenUsage } from '../../canonical/canonical-response.ts'
import { type OpaqueState, UNSIGNED_PREFIX } from '../../canonical/canonical-state.ts'
import type { EndEvent, PartStartEvent, StreamEvent } from '../../canonical/canonical-stream.ts'
import { serializeParts } from '../../canonical/serialize-parts.ts'
import { moveStreamStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { estimateTokens } from '../../estimate-tokens.ts'
import { PING_KEEP_ALIVE } from '../../keep-alive-texts.ts'
import type { StreamWriter, WriterContext } from '../../translator.ts'
import { writeCitation } from '../anthropic-citations.ts'
import { writeError } from '../anthropic-errors.ts'
import { writeFinish, writeTokenCounts, writeUsage } from '../anthropic-fields.ts'
import type { WireBlock, WireBlockStart, WireDelta, WireEvent, WireTextStart } from '../anthropic-wire.ts'
import { writeReasoning, writeSignature } from './anthropic-client-reasoning.ts'
import {
  type BlockOptions,
  createEmptyMessage,
  hidesReasoning,
  writeBlocks,
  writeToolUse,
} from './anthropic-client-response.ts'

/**
 * Writes named events: the start of the message, one block after another, and the stop reason with all counts. Clients use the counts at the start to
 * show how full the context is, so those are estimated if the provider hasn't reported them yet.
 */
export function createWriter(fullContext: WriterContext, write: (event: string) => void): StreamWriter {
  const context: WriterContext = { ...fullContext, request: omitTurns(fullContext.request) }
  const { turns, tools, output } = fullContext.request
  const estimatedTokens = estimateTokens({ turns, tools, output })
  const options = { isReasoningHidden: hidesReasoning(context), responseWarnings: context.responseWarnings }
  let isStarted = false
  let hasRefusal = false
  let index = 0
  let openBlock: BlockWriter | undefined

  const blockEvents: BlockEvents = {
    start: (block) => send({ type: 'content_block_start', index, content_block: block }),
    writeDelta: (delta) => send({ type: 'content_block_delta', index, delta }),
    writeTextDelta: (type, field, text) =>
      write(
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":"${escapeJson(text)}"}}\n\n`,
      ),
    stop: () => send({ type: 'content_block_stop', index: index++ }),
  }

  function send(event: WireEvent) {
    write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  function startMessage(usage?: TokenUsage) {
    if (isStarted) return
    isStarted = true
    const counts = usage ?? { inputTokens: estimatedTokens, outputTokens: 1 }
    send({ type: 'message_start', message: { ...createEmptyMessage(context), usage: writeUsage(counts) } })
  }

  function startPart({ part }: PartStartEvent) {
    startMessage()
    hasRefusal ||= part.type === 'refusal'
    openBlock = createBlockWriter(part, blockEvents, options)
  }

  function endMessage({ finishes, usage }: EndEvent) {
    startMessage()
    const [finish = { reason: 'stop' }] = finishes
    const counts = writeTokenCounts(usage ?? { inputTokens: 0, outputTokens: 0 })
    send({
      type: 'message_delta',
      delta: { ...writeFinish(finish, hasRefusal), container: null },
      usage: usage ? counts : { ...counts, ...UNKNOWN_COUNTS },
    })
    context.beforeEnd?.()
    send({ type: 'message_stop' })
  }

  function push(event: StreamEvent) {
    switch (event.type) {
      case 'start':
        return startMessage(event.usage)
      case 'part-start':
        return startPart(event)
      case 'part-delta':
        return openBlock?.addText(event.text)
      case 'part-citation':
        return openBlock?.addCitation(event.citation)
      case 'part-state':
        return openBlock?.setState(event.state)
      case 'part-end':
        return openBlock?.end()
      case 'end':
        return endMessage(event)
      case 'error':
        context.beforeEnd?.()
        return write(`event: error\ndata: ${JSON.stringify(writeError(event.error).body)}\n\n`)
      default:
        return assertNever(event)
    }
  }

  return { push: moveStreamStateToReasoning(serializeParts(push)), keepAlive: () => PING_KEEP_ALIVE }
}

/** Clients keep the count from the start if a count here is null. */
const UNKNOWN_COUNTS = { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null } as const

interface BlockWriter {
  addText(text: string): void
  addCitation(citation: Citation): void
  setState(state: OpaqueState): void
  end(): void
}

interface BlockEvents {
  start(block: WireBlockStart): void
  writeDelta(delta: WireDelta): void
  /** Writes a delta with a single text field, without serializing an object. Nearly all deltas are of this kind. */
  writeTextDelta(type: WireDelta['type'], field: string, text: string): void
  stop(): void
}

function createBlockWriter(part: AssistantPart, events: BlockEvents, options: BlockOptions): BlockWriter {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return createTextWriter(events, options)
    case 'reasoning':
      return createReasoningWriter(part, events, options)
    case 'tool-call':
      return createCallWriter(part, events)
    case 'server-tool':
    case 'compaction':
    case 'image':
    case 'audio':
      for (const block of writeBlocks(part, options)) writeCompleteBlock(block, events)
      return NOOP_WRITER
    default:
      return assertNever(part)
  }
}

/** Starts a text block with its first piece, because clients send back empty blocks, which Anthropic rejects. */
function createTextWriter(
  { start, writeDelta, writeTextDelta, stop }: BlockEvents,
  { responseWarnings }: BlockOptions,
): BlockWriter {
  let isOpen = false
  function openOnce() {
    if (!isOpen) start(EMPTY_TEXT_BLOCK)
    isOpen = true
  }
  return {
    ...NOOP_WRITER,
    addText(text) {
      openOnce()
      writeTextDelta('text_delta', 'text', text)
    },
    addCitation(citation) {
      const wireCitation = writeCitation(citation, responseWarnings)
      if (!wireCitation) return
      openOnce()
      writeDelta({ type: 'citations_delta', citation: wireCitation })
    },
    end() {
      if (isOpen) stop()
    },
  }
}

/** Creates a writer for reasoning. The signature arrives last, and shows whether reasoning without text is redacted. */
function createReasoningWriter(
  part: ReasoningPart,
  { start, writeDelta, writeTextDelta, stop }: BlockEvents,
  { isReasoningHidden }: BlockOptions,
): BlockWriter {
  let { state } = part
  let isOpen = false
  const hiddenTexts: string[] = []
  function openOnce() {
    if (!isOpen) start({ type: 'thinking', thinking: '', signature: '' })
    isOpen = true
  }
  return {
    ...NOOP_WRITER,
    addText(text) {
      if (isReasoningHidden) return void hiddenTexts.push(text)
      openOnce()
      writeTextDelta('thinking_delta', 'thinking', text)
    },
    setState(newState) {
      state = newState
    },
    end() {
      const text = hiddenTexts.join('')
      const reasoningBlock = isOpen
        ? undefined
        : writeReasoning(state ? { ...part, text, state } : { ...part, text }, isReasoningHidden)
      if (reasoningBlock?.type === 'redacted_thinking') start(reasoningBlock)
      else if (reasoningBlock) openOnce()
      if (isOpen)
        writeDelta({ type: 'signature_delta', signature: state ? writeSignature(state, text) : UNSIGNED_PREFIX })
      if (reasoningBlock || isOpen) stop()
    },
  }
}

function createCallWriter(part: ToolCallPart, { start, writeTextDelta, stop }: BlockEvents): BlockWriter {
  const inputDeltas: string[] = []
  start(writeToolUse(part))
  return {
    ...NOOP_WRITER,
    addText(text) {
      if (part.isFreeForm) inputDeltas.push(text)
      else writeTextDelta('input_json_delta', 'partial_json', text)
    },
    end() {
      if (part.isFreeForm)
        writeTextDelta('input_json_delta', 'partial_json', JSON.stringify({ input: inputDeltas.join('') }))
      stop()
    },
  }
}

function writeCompleteBlock(block: WireBlock, { start, writeDelta, stop }: BlockEvents) {
  if (block.type === 'text') {
    start(EMPTY_TEXT_BLOCK)
    writeDelta({ type: 'text_delta', text: block.text })
  } else if (block.type === 'server_tool_use') {
    start({ ...block, input: {} })
    writeDelta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })
  } else start(block)
  stop()
}

const EMPTY_TEXT_BLOCK: WireTextStart = { type: 'text', text: '', citations: null }

const NOOP_WRITER: BlockWriter = { addText() {}, addCitation() {}, setState() {}, end() {} }
