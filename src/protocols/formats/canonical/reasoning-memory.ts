import { createTextBuffer, type TextBuffer } from '../../../lib/text-buffer.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from './canonical-parts.ts'
import type { OpaqueState, Origin } from './canonical-state.ts'
import type { StreamEvent } from './canonical-stream.ts'
import type { AssistantTurn, Turn } from './canonical-turns.ts'
import { hashToHex } from './ids.ts'

/**
 * Stores the reasoning that precedes tool calls, for clients that only send back the calls. Many drop everything that their format has no field for.
 * Reasoning is stored in process memory, by owner and call ID, and the oldest is evicted first. Some models number their calls from 0, so those IDs
 * are stored with their conversation. The phase of text that precedes a call is stored too. Otherwise, OpenAI models would mistake a comment for the
 * final answer.
 */
export interface ReasoningMemory {
  /** Stores the reasoning in a response to a conversation. */
  store(conversation: ConversationWithResponse, parts: readonly AssistantPart[]): void
  /** Stores the reasoning in a streamed response, and forwards its events to `emit`. */
  storeFromStream(
    conversation: ConversationWithResponse,
    emit: (event: StreamEvent) => void,
  ): (event: StreamEvent) => void
  /** Adds stored reasoning to the turns' calls, except in turns where the client sent state. Phases only go back to their origin. */
  recall(owner: string, turns: Turn[], target?: Origin): Turn[]
}

/** The conversation that a response belongs to. */
interface ConversationWithResponse {
  owner: string
  turns: readonly Turn[]
  /** The origin of the response. */
  origin?: Origin
}

interface ResponsePosition extends Pick<ConversationWithResponse, 'owner' | 'origin'> {
  getPositionKey: LazyPositionKey
}

interface StoredReasoning {
  reasoning: ReasoningPart[]
  state: OpaqueState | undefined
  /** The phase and origin of the text that precedes the call. */
  phase: { value: TextPart['phase']; origin: Origin | undefined } | undefined
  /** In characters. */
  size: number
}

const MAX_CALLS = 10_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const MAX_ENTRY_CHARACTERS = 1024 * 1024

export function createReasoningMemory(): ReasoningMemory {
  const entries = new Map<string, StoredReasoning>()
  let totalCharacters = 0

  function evict(key: string) {
    totalCharacters -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  function storeEntry(key: string, { reasoning, state, phase }: Omit<StoredReasoning, 'size'>) {
    const sizes = reasoning.map((part) => part.text.length + getSize(part.state))
    const size = sizes.reduce((sum, size) => sum + size, key.length + getSize(state))
    if (size > MAX_ENTRY_CHARACTERS) return
    evict(key)
    entries.set(key, { reasoning, state, phase, size })
    totalCharacters += size
    for (const oldestKey of entries.keys()) {
      if (entries.size <= MAX_CALLS && totalCharacters <= MAX_CHARACTERS) break
      evict(oldestKey)
    }
  }

  function storeParts({ owner, getPositionKey, origin }: ResponsePosition, parts: readonly AssistantPart[]) {
    let reasoning: ReasoningPart[] = []
    let phase: StoredReasoning['phase']
    for (const part of parts) {
      if (part.type === 'reasoning' && part.state) reasoning.push(part)
      if (part.type === 'text' && part.phase) phase = { value: part.phase, origin }
      if (part.type !== 'tool-call') continue
      const { state } = part
      if (reasoning.length > 0 || state || phase)
        storeEntry(toKey(owner, getPositionKey, part), { reasoning, state, phase })
      reasoning = []
      phase = undefined
    }
  }

  /** Puts the first reasoning at the start of the turn, and any later reasoning directly before its call. */
  function recallTurn(owner: string, getPositionKey: LazyPositionKey, turn: AssistantTurn): AssistantTurn {
    if (turn.content.some((part) => 'state' in part && part.state)) return turn
    const leadingReasoning: ReasoningPart[] = []
    let callCount = 0
    const content = turn.content.flatMap((part): AssistantPart[] => {
      if (part.type !== 'tool-call') return [part]
      const entry = entries.get(toKey(owner, getPositionKey, part))
      if (callCount++ === 0 && entry) leadingReasoning.push(...entry.reasoning)
      const reasoning = callCount > 1 && entry ? entry.reasoning : []
      return [...reasoning, entry?.state ? { ...part, state: entry.state } : part]
    })
    return { ...turn, content: [...leadingReasoning, ...content] }
  }

  /** Adds the stored phases to the text parts that precede calls. Text parts after the last call have none. */
  function addPhases(
    owner: string,
    getPositionKey: LazyPositionKey,
    turn: AssistantTurn,
    target: Origin,
  ): AssistantTurn {
    let phase: TextPart['phase']
    const content = turn.content.toReversed().map((part): AssistantPart => {
      if (part.type === 'text') return phase && !part.phase ? { ...part, phase } : part
      if (part.type !== 'tool-call') return part
      const storedPhase = entries.get(toKey(owner, getPositionKey, part))?.phase
      phase = isSameOrigin(storedPhase?.origin, target) ? storedPhase?.value : undefined
      return part
    })
    return { ...turn, content: content.toReversed() }
  }

  return {
    store: (conversation, parts) => storeParts(locateResponse(conversation), parts),
    storeFromStream(conversation, emit) {
      const { getPositionKey, ...responseSource } = locateResponse(conversation)
      const positionKey = getPositionKey() // computed now, because otherwise, the text parts would stay in memory until the stream ends
      return collectParts((parts) => storeParts({ ...responseSource, getPositionKey: () => positionKey }, parts), emit)
    },
    recall(owner, turns, target) {
      if (entries.size === 0) return turns
      const positionKeys = createLazyPositionKeys(turns)
      return turns.map((turn, index) => {
        if (turn.role !== 'assistant') return turn
        const getPositionKey = positionKeys.get(index)
        const recalledTurn = recallTurn(owner, getPositionKey, turn)
        return target?.format === 'openai-responses'
          ? addPhases(owner, getPositionKey, recalledTurn, target)
          : recalledTurn
      })
    },
  }
}

const isSameOrigin = (a: Origin | undefined, b: Origin) => a?.format === b.format && a.account === b.account

/** A key for a position in the conversation. It is only computed for calls whose ID isn't random. */
type LazyPositionKey = () => string

function createLazyPositionKeys(turns: readonly Turn[]): { get(index: number): LazyPositionKey } {
  let keys: string[] | undefined
  const getKeys = () => {
    keys ??= locateTurns(turns)
    return keys
  }
  return { get: (index) => () => getKeys()[index] ?? '' }
}

function locateResponse({ turns, ...responseSource }: ConversationWithResponse): ResponsePosition {
  const firstUserIndex = turns.findIndex(({ role }) => role === 'user')
  const lastUserTurn = turns.findLast(({ role }) => role === 'user')
  if (!lastUserTurn) return { ...responseSource, getPositionKey: () => '' }
  const leadingTexts = turns.slice(0, firstUserIndex + 1).flatMap((turn) => getTurnText(turn) ?? [])
  const lastUserText = getTurnText(lastUserTurn) ?? ''
  return { ...responseSource, getPositionKey: () => createPositionKey(hashText(leadingTexts.join('\n')), lastUserText) }
}

function locateTurns(turns: readonly Turn[]): string[] {
  const leadingTexts: string[] = []
  let startHash: string | undefined
  let nextKey = ''
  return turns.map((turn) => {
    const key = nextKey
    const turnText = getTurnText(turn)
    if (turnText === undefined) return key
    if (startHash === undefined) leadingTexts.push(turnText)
    if (turn.role === 'system') return key
    startHash ??= hashText(leadingTexts.join('\n'))
    nextKey = createPositionKey(startHash, turnText)
    return key
  })
}

/**
 * Returns a position key: a hash of the instructions and the first user turn (`start`), and a hash of the last user turn, which clients keep in a
 * tool loop.
 */
const createPositionKey = (startHash: string, text: string) => `${startHash} ${hashText(text)}`

/** Returns a system or user turn's text, or `undefined` for other turns. */
const getTurnText = (turn: Turn): string | undefined =>
  turn.role === 'system' || turn.role === 'user'
    ? turn.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    : undefined

const hashText = (text: string) => hashToHex(text, 0x811c9dc5) + hashToHex(text, 0x9dc5811c)

const toKey = (owner: string, getPositionKey: LazyPositionKey, { id, name }: ToolCallPart) =>
  isRandomId(id) ? `${owner} ${id}` : `${owner} ${id} ${name} ${getPositionKey()}`

/** Returns whether the ID is random, rather than a function name with a number. */
const isRandomId = (id: string) => (id.match(/[A-Za-z0-9]{8,}/g) ?? []).some((run) => /\d.*\d/.test(run))

const getSize = (state: OpaqueState | undefined) => state?.data.length ?? 0

/** Collects a stream's reasoning, phases, and calls, and reports them at its end. Doesn't keep text parts and arguments. */
function collectParts(onComplete: (parts: AssistantPart[]) => void, emit: (event: StreamEvent) => void) {
  const parts = new Map<number, RetainedPart>()
  const textBuffers = new Map<number, TextBuffer>()

  function listParts(): AssistantPart[] {
    return Array.from(parts, ([key, part]) =>
      part.type === 'reasoning' ? { ...part, text: part.text + (textBuffers.get(key)?.text ?? '') } : part,
    )
  }

  /** Returns whether all reasoning is short enough to store. Longer reasoning isn't buffered. */
  const isStorable = () => [...textBuffers.values()].every(({ text }) => text !== undefined)

  return (event: StreamEvent): void => {
    if (event.type === 'part-start' && event.candidate === 0 && isRetainedPart(event.part)) {
      parts.set(event.key, event.part)
      if (event.part.type === 'reasoning') textBuffers.set(event.key, createTextBuffer(MAX_ENTRY_CHARACTERS))
    } else if (event.type === 'part-delta') textBuffers.get(event.key)?.append(event.text)
    else if (event.type === 'part-state') {
      const part = parts.get(event.key)
      if (part) parts.set(event.key, { ...part, state: event.state })
    } else if (event.type === 'end' && parts.size > 0 && isStorable()) onComplete(listParts())
    emit(event)
  }
}

type RetainedPart = ReasoningPart | ToolCallPart | TextPart

const isRetainedPart = (part: AssistantPart): part is RetainedPart =>
  part.type === 'reasoning' || part.type === 'tool-call' || (part.type === 'text' && part.phase !== undefined)
