import { createTextBuffer, type TextBuffer } from '../../lib/text-buffer.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart } from './parts.ts'
import { hexHash } from './short-id.ts'
import type { OpaqueState, Origin } from './state.ts'
import type { StreamEvent } from './stream.ts'
import type { AssistantTurn, Turn } from './turns.ts'

/**
 * What models thought before their tool calls, for clients that return the calls alone: many drop what their format has no place for. By the
 * ids of the calls, for each owner apart; in memory, and the oldest are forgotten first. Some models count their calls from 0: such an id is
 * remembered with its conversation. So is the phase of the text before a call, without which models of OpenAI take a comment for the answer.
 */
export interface ThoughtMemory {
  /** Remembers an answer to a conversation. */
  keep(said: Said, parts: readonly AssistantPart[]): void
  /** `keep` for a stream that passes. */
  listen(said: Said, emit: (event: StreamEvent) => void): (event: StreamEvent) => void
  /** The turns with all that is remembered of their calls, unless the client has returned some of it itself; phases only for who told them. */
  recall(owner: string, turns: Turn[], target?: Origin): Turn[]
}

/** What an answer is to, and who asked. */
export interface Said {
  owner: string
  turns: readonly Turn[]
  /** Who answers. */
  origin?: Origin
}

interface Memory {
  thoughts: ReasoningPart[]
  /** Of the call itself. */
  state: OpaqueState | undefined
  /** Of the text before the call, and who told it. */
  phase: { is: TextPart['phase']; origin: Origin | undefined } | undefined
  /** In characters. */
  size: number
}

const MAX_CALLS = 10_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const MAX_OF_ONE = 1024 * 1024

export function createThoughtMemory(): ThoughtMemory {
  const memories = new Map<string, Memory>()
  let characters = 0

  function forget(key: string) {
    characters -= memories.get(key)?.size ?? 0
    memories.delete(key)
  }

  function remember(key: string, { thoughts, state, phase }: Omit<Memory, 'size'>) {
    const sizes = thoughts.map((thought) => thought.text.length + sizeOf(thought.state))
    const size = sizes.reduce((sum, one) => sum + one, key.length + sizeOf(state))
    if (size > MAX_OF_ONE) return
    forget(key)
    memories.set(key, { thoughts, state, phase, size })
    characters += size
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_CALLS && characters <= MAX_CHARACTERS) break
      forget(oldest)
    }
  }

  function keep({ owner, turns, origin }: Said, parts: readonly AssistantPart[]) {
    let thoughts: ReasoningPart[] = []
    let phase: Memory['phase']
    const places = lazyPlaces(turns)
    for (const part of parts) {
      if (part.type === 'reasoning' && part.state) thoughts.push(part)
      if (part.type === 'text' && part.phase) phase = { is: part.phase, origin }
      if (part.type !== 'tool-call') continue
      const { state } = part
      if (thoughts.length > 0 || state || phase) remember(keyOf(owner, places.next, part), { thoughts, state, phase })
      thoughts = []
      phase = undefined
    }
  }

  /** Thoughts come first in a turn, and later ones right before their calls. */
  function recallIn(owner: string, place: Place, turn: AssistantTurn): AssistantTurn {
    if (turn.content.some((part) => 'state' in part && part.state)) return turn
    const first: ReasoningPart[] = []
    let calls = 0
    const content = turn.content.flatMap((part): AssistantPart[] => {
      if (part.type !== 'tool-call') return [part]
      const known = memories.get(keyOf(owner, place, part))
      if (calls++ === 0 && known) first.push(...known.thoughts)
      const thoughts = calls > 1 && known ? known.thoughts : []
      return [...thoughts, known?.state ? { ...part, state: known.state } : part]
    })
    return { ...turn, content: [...first, ...content] }
  }

  /** Texts behind the last call have their phase in no memory. */
  function withPhases(owner: string, place: Place, turn: AssistantTurn, target: Origin): AssistantTurn {
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
    keep,
    listen: (said, emit) => collecting((parts) => keep(said, parts), emit),
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

/** Found out only for calls that need it. */
type Place = () => string

function lazyPlaces(turns: readonly Turn[]): { at(index: number): Place; next: Place } {
  let found: ReturnType<typeof placesIn> | undefined
  const find = () => {
    found ??= placesIn(turns)
    return found
  }
  return { at: (index) => () => find().places[index] ?? '', next: () => find().next }
}

/**
 * Where each turn stands in its conversation, and where the next one will: by the instructions, and by what the user said first and last before
 * it. Clients shorten what is between, and keep these as they are for as long as tools are at work.
 */
function placesIn(turns: readonly Turn[]): { places: string[]; next: string } {
  const before: string[] = []
  let start: string | undefined
  let next = ''
  const places = turns.map((turn) => {
    const place = next
    if (turn.role !== 'system' && turn.role !== 'user') return place
    const words = turn.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    if (start === undefined) before.push(words)
    if (turn.role === 'system') return place
    start ??= hashOf(before.join('\n'))
    next = `${start} ${hashOf(words)}`
    return place
  })
  return { places, next }
}

const hashOf = (text: string) => hexHash(text, 0x811c9dc5) + hexHash(text, 0x9dc5811c)

const keyOf = (owner: string, place: Place, { id, name }: ToolCallPart) =>
  isRandom(id) ? `${owner} ${id}` : `${owner} ${id} ${name} ${place()}`

/** Has an id more in it than the name of a function and a number? */
const isRandom = (id: string) => (id.match(/[A-Za-z0-9]{8,}/g) ?? []).some((run) => /\d.*\d/.test(run))

const sizeOf = (state: OpaqueState | undefined) => state?.data.length ?? 0

/** Hands the thoughts, phases and calls of a whole stream on; words and arguments are nobody's concern here. */
function collecting(onWhole: (parts: AssistantPart[]) => void, emit: (event: StreamEvent) => void) {
  const parts = new Map<number, KeptPart>()
  const texts = new Map<number, TextBuffer>()

  function whole(): AssistantPart[] {
    return Array.from(parts, ([key, part]) =>
      part.type === 'reasoning' ? { ...part, text: part.text + (texts.get(key)?.text ?? '') } : part,
    )
  }

  /** Thoughts that are too long for a memory are not even held. */
  const isKeepable = () => [...texts.values()].every(({ text }) => text !== undefined)

  return (event: StreamEvent): void => {
    if (event.type === 'part-start' && event.candidate === 0 && isKept(event.part)) {
      parts.set(event.key, event.part)
      if (event.part.type === 'reasoning') texts.set(event.key, createTextBuffer(MAX_OF_ONE))
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
