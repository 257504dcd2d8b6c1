import { createTextBuffer, type TextBuffer } from '../../lib/text-buffer.ts'
import { hexHash } from './ids.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from './parts.ts'
import type { OpaqueState, Origin } from './state.ts'
import type { StreamEvent } from './stream.ts'
import type { AssistantTurn, Turn } from './turns.ts'

/**
 * The reasoning before tool calls, for clients that return the calls alone: many drop what their format has no field for. It is found by the
 * id of the call, separately for each owner; kept in process memory, the oldest evicted first. Some models count their calls from 0: such an id
 * is stored with its conversation. The phase of the text before a call is stored too: without it, models of OpenAI take a comment for the
 * answer.
 */
export interface ReasoningMemory {
  /** Remembers an answer to a conversation. */
  keep(conversation: AnsweredConversation, parts: readonly AssistantPart[]): void
  /** `keep` for a stream, whose events are passed on to `emit`. */
  listen(conversation: AnsweredConversation, emit: (event: StreamEvent) => void): (event: StreamEvent) => void
  /** Adds what is remembered to the calls of the turns, except in turns where the client returned state itself. Phases return to their origin only. */
  recall(owner: string, turns: Turn[], target?: Origin): Turn[]
}

/** The conversation that an answer belongs to. */
export interface AnsweredConversation {
  owner: string
  turns: readonly Turn[]
  /** The origin of the answer. */
  origin?: Origin
}

/** The place of an answer in its conversation. */
interface AnsweredPlace extends Pick<AnsweredConversation, 'owner' | 'origin'> {
  place: LazyPlace
}

interface Memory {
  reasoning: ReasoningPart[]
  /** The state of the call itself. */
  state: OpaqueState | undefined
  /** The phase of the text before the call, and the origin of that text. */
  phase: { is: TextPart['phase']; origin: Origin | undefined } | undefined
  /** In characters. */
  size: number
}

const MAX_CALLS = 10_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const MAX_ENTRY_CHARACTERS = 1024 * 1024

export function createReasoningMemory(): ReasoningMemory {
  const memories = new Map<string, Memory>()
  let characters = 0

  function evict(key: string) {
    characters -= memories.get(key)?.size ?? 0
    memories.delete(key)
  }

  function remember(key: string, { reasoning, state, phase }: Omit<Memory, 'size'>) {
    const sizes = reasoning.map((part) => part.text.length + sizeOf(part.state))
    const size = sizes.reduce((sum, one) => sum + one, key.length + sizeOf(state))
    if (size > MAX_ENTRY_CHARACTERS) return
    evict(key)
    memories.set(key, { reasoning, state, phase, size })
    characters += size
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_CALLS && characters <= MAX_CHARACTERS) break
      evict(oldest)
    }
  }

  function keep({ owner, place, origin }: AnsweredPlace, parts: readonly AssistantPart[]) {
    let reasoning: ReasoningPart[] = []
    let phase: Memory['phase']
    for (const part of parts) {
      if (part.type === 'reasoning' && part.state) reasoning.push(part)
      if (part.type === 'text' && part.phase) phase = { is: part.phase, origin }
      if (part.type !== 'tool-call') continue
      const { state } = part
      if (reasoning.length > 0 || state || phase) remember(keyOf(owner, place, part), { reasoning, state, phase })
      reasoning = []
      phase = undefined
    }
  }

  /** The first reasoning goes to the start of the turn, later reasoning directly before its call. */
  function recallIn(owner: string, place: LazyPlace, turn: AssistantTurn): AssistantTurn {
    if (turn.content.some((part) => 'state' in part && part.state)) return turn
    const first: ReasoningPart[] = []
    let calls = 0
    const content = turn.content.flatMap((part): AssistantPart[] => {
      if (part.type !== 'tool-call') return [part]
      const known = memories.get(keyOf(owner, place, part))
      if (calls++ === 0 && known) first.push(...known.reasoning)
      const reasoning = calls > 1 && known ? known.reasoning : []
      return [...reasoning, known?.state ? { ...part, state: known.state } : part]
    })
    return { ...turn, content: [...first, ...content] }
  }

  /** Adds the remembered phases to the texts before calls; none is remembered for texts after the last call. */
  function withPhases(owner: string, place: LazyPlace, turn: AssistantTurn, target: Origin): AssistantTurn {
    let phase: TextPart['phase']
    const content = turn.content.toReversed().map((part): AssistantPart => {
      if (part.type === 'text') return phase && !part.phase ? { ...part, phase } : part
      if (part.type !== 'tool-call') return part
      const known = memories.get(keyOf(owner, place, part))?.phase
      phase = isSame(known?.origin, target) ? known?.is : undefined
      return part
    })
    return { ...turn, content: content.toReversed() }
  }

  return {
    keep: (conversation, parts) => keep(placeOf(conversation), parts),
    listen(conversation, emit) {
      const { place, ...answered } = placeOf(conversation)
      const found = place() // computed at once, since the texts would otherwise stay in memory as long as the stream
      return collecting((parts) => keep({ ...answered, place: () => found }, parts), emit)
    },
    recall(owner, turns, target) {
      if (memories.size === 0) return turns
      const places = lazyPlaces(turns)
      return turns.map((turn, index) => {
        if (turn.role !== 'assistant') return turn
        const place = places.at(index)
        const whole = recallIn(owner, place, turn)
        return target?.format === 'openai-responses' ? withPhases(owner, place, whole, target) : whole
      })
    },
  }
}

const isSame = (one: Origin | undefined, other: Origin) => one?.format === other.format && one.account === other.account

/** A place that is computed on demand, for calls whose id is not random. */
type LazyPlace = () => string

/** The place of each turn. */
function lazyPlaces(turns: readonly Turn[]): { at(index: number): LazyPlace } {
  let found: string[] | undefined
  const find = () => {
    found ??= placesIn(turns)
    return found
  }
  return { at: (index) => () => find()[index] ?? '' }
}

/** The place after the last turn. */
function placeOf({ turns, ...answered }: AnsweredConversation): AnsweredPlace {
  const first = turns.findIndex(({ role }) => role === 'user')
  const last = turns.findLast(({ role }) => role === 'user')
  if (!last) return { ...answered, place: () => '' }
  const before = turns.slice(0, first + 1).flatMap((turn) => wordsIn(turn) ?? [])
  const words = wordsIn(last) ?? ''
  return { ...answered, place: () => placeAfter(hashOf(before.join('\n')), words) }
}

/** The place of each turn. */
function placesIn(turns: readonly Turn[]): string[] {
  const before: string[] = []
  let start: string | undefined
  let next = ''
  return turns.map((turn) => {
    const place = next
    const words = wordsIn(turn)
    if (words === undefined) return place
    if (start === undefined) before.push(words)
    if (turn.role === 'system') return place
    start ??= hashOf(before.join('\n'))
    next = placeAfter(start, words)
    return place
  })
}

/**
 * Identifies a place in a conversation by the instructions and the first user turn, of which `start` is the hash, and by the words of the last
 * user turn before it. Clients may shorten what is between, but keep these unchanged during a tool loop.
 */
const placeAfter = (start: string, words: string) => `${start} ${hashOf(words)}`

/** The words of instructions or of a user; `undefined` for other turns. */
const wordsIn = (turn: Turn): string | undefined =>
  turn.role === 'system' || turn.role === 'user'
    ? turn.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    : undefined

const hashOf = (text: string) => hexHash(text, 0x811c9dc5) + hexHash(text, 0x9dc5811c)

const keyOf = (owner: string, place: LazyPlace, { id, name }: ToolCallPart) =>
  isRandom(id) ? `${owner} ${id}` : `${owner} ${id} ${name} ${place()}`

/** Is the id random, not only the name of a function and a number? */
const isRandom = (id: string) => (id.match(/[A-Za-z0-9]{8,}/g) ?? []).some((run) => /\d.*\d/.test(run))

const sizeOf = (state: OpaqueState | undefined) => state?.data.length ?? 0

/** Collects reasoning, phases and calls of a stream, and reports them at its end; texts and arguments are not kept. */
function collecting(onWhole: (parts: AssistantPart[]) => void, emit: (event: StreamEvent) => void) {
  const parts = new Map<number, KeptPart>()
  const texts = new Map<number, TextBuffer>()

  function whole(): AssistantPart[] {
    return Array.from(parts, ([key, part]) =>
      part.type === 'reasoning' ? { ...part, text: part.text + (texts.get(key)?.text ?? '') } : part,
    )
  }

  /** Is all reasoning short enough for an entry? Longer reasoning is not buffered. */
  const isKeepable = () => [...texts.values()].every(({ text }) => text !== undefined)

  return (event: StreamEvent): void => {
    if (event.type === 'part-start' && event.candidate === 0 && isKept(event.part)) {
      parts.set(event.key, event.part)
      if (event.part.type === 'reasoning') texts.set(event.key, createTextBuffer(MAX_ENTRY_CHARACTERS))
    } else if (event.type === 'part-delta') texts.get(event.key)?.add(event.text)
    else if (event.type === 'part-state') {
      const part = parts.get(event.key)
      if (part) parts.set(event.key, { ...part, state: event.state })
    } else if (event.type === 'end' && parts.size > 0 && isKeepable()) onWhole(whole())
    emit(event)
  }
}

type KeptPart = ReasoningPart | ToolCallPart | TextPart

const isKept = (part: AssistantPart): part is KeptPart =>
  part.type === 'reasoning' || part.type === 'tool-call' || (part.type === 'text' && part.phase !== undefined)
