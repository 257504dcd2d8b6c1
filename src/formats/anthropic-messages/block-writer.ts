import type { Citation } from '../canonical/citations.ts'
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../canonical/parts.ts'
import { type OpaqueState, UNSIGNED } from '../canonical/state.ts'
import { type BlockTerms, toolUse, writeBlocks } from './answer-write.ts'
import { wireCitation } from './citations.ts'
import { wireSignature, wireThought } from './thoughts.ts'
import type { WireBlock, WireBlockStart, WireDelta, WireTextStart } from './wire.ts'

/** Writes one part as a block of a stream, in the order in which it is told. */
export interface BlockWriter {
  add(text: string): void
  cite(citation: Citation): void
  prove(state: OpaqueState): void
  end(): void
}

/** The events of blocks: each is started, told more of, and stopped, one after the other. */
export interface BlockEvents {
  start(block: WireBlockStart): void
  tell(delta: WireDelta): void
  /** `tell` for what comes often: the type of the delta, its field and the text. */
  say(type: WireDelta['type'], field: string, text: string): void
  stop(): void
}

export function createBlockWriter(part: AssistantPart, events: BlockEvents, terms: BlockTerms): BlockWriter {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return writeText(events, terms)
    case 'reasoning':
      return writeThought(part, events, terms)
    case 'tool-call':
      return writeCall(part, events)
    default:
      for (const block of writeBlocks(part, terms)) writeWhole(block, events)
      return NOTHING
  }
}

/** The block starts with its first word: clients echo empty ones, which Anthropic then refuses. */
function writeText({ start, tell, say, stop }: BlockEvents, { losses }: BlockTerms): BlockWriter {
  let isOpen = false
  function open() {
    if (!isOpen) start(TEXT)
    isOpen = true
  }
  return {
    ...NOTHING,
    add(text) {
      open()
      say('text_delta', 'text', text)
    },
    cite(said) {
      const citation = wireCitation(said, losses)
      if (!citation) return
      open()
      tell({ type: 'citations_delta', citation })
    },
    end() {
      if (isOpen) stop()
    },
  }
}

/** The signature is the last that is told of a thought. What has no text may turn out to be one that nobody may read. */
function writeThought(
  part: ReasoningPart,
  { start, tell, say, stop }: BlockEvents,
  { isHidden }: BlockTerms,
): BlockWriter {
  let { state } = part
  let isOpen = false
  const hidden: string[] = []
  function open() {
    if (!isOpen) start({ type: 'thinking', thinking: '', signature: '' })
    isOpen = true
  }
  return {
    ...NOTHING,
    add(text) {
      if (isHidden) return void hidden.push(text)
      open()
      say('thinking_delta', 'thinking', text)
    },
    prove(said) {
      state = said
    },
    end() {
      const text = hidden.join('')
      const whole = isOpen ? undefined : wireThought(state ? { ...part, text, state } : { ...part, text }, isHidden)
      if (whole?.type === 'redacted_thinking') start(whole)
      else if (whole) open()
      if (isOpen) tell({ type: 'signature_delta', signature: state ? wireSignature(state, text) : UNSIGNED })
      if (whole || isOpen) stop()
    },
  }
}

function writeCall(part: ToolCallPart, { start, say, stop }: BlockEvents): BlockWriter {
  const pieces: string[] = []
  start(toolUse(part))
  return {
    ...NOTHING,
    add(text) {
      if (part.isFreeForm) pieces.push(text)
      else say('input_json_delta', 'partial_json', text)
    },
    end() {
      if (part.isFreeForm) say('input_json_delta', 'partial_json', JSON.stringify({ input: pieces.join('') }))
      stop()
    },
  }
}

function writeWhole(block: WireBlock, { start, tell, stop }: BlockEvents) {
  if (block.type === 'text') {
    start(TEXT)
    tell({ type: 'text_delta', text: block.text })
  } else if (block.type === 'server_tool_use') {
    start({ ...block, input: {} })
    tell({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })
  } else start(block)
  stop()
}

const TEXT: WireTextStart = { type: 'text', text: '', citations: null }

const NOTHING: BlockWriter = { add() {}, cite() {}, prove() {}, end() {} }
