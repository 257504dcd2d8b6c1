import type { AssistantPart, ReasoningPart, ToolCallPart } from './parts.ts'
import type { OpaqueState } from './state.ts'
import type { StreamEvent } from './stream.ts'
import type { AssistantTurn, Turn } from './turns.ts'

/**
 * What models thought before their tool calls, for clients that return the calls alone: many drop what their format has no place for. By the
 * ids of the calls, for each owner apart; in memory, and the oldest are forgotten first.
 */
export interface ThoughtMemory {
  /** Remembers an answer. */
  keep(owner: string, parts: readonly AssistantPart[]): void
  /** `keep` for a stream that passes. */
  listen(owner: string, emit: (event: StreamEvent) => void): (event: StreamEvent) => void
  /** The turns with all that is remembered of their calls, unless the client has returned some of it itself. */
  recall(owner: string, turns: Turn[]): Turn[]
}

interface Memory {
  thoughts: ReasoningPart[]
  /** Of the call itself. */
  state: OpaqueState | undefined
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

  function remember(key: string, thoughts: ReasoningPart[], state: OpaqueState | undefined) {
    const sizes = thoughts.map((thought) => thought.text.length + sizeOf(thought.state))
    const size = sizes.reduce((sum, one) => sum + one, key.length + sizeOf(state))
    if (size > MAX_OF_ONE) return
    forget(key)
    memories.set(key, { thoughts, state, size })
    characters += size
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_CALLS && characters <= MAX_CHARACTERS) break
      forget(oldest)
    }
  }

  function keep(owner: string, parts: readonly AssistantPart[]) {
    let thoughts: ReasoningPart[] = []
    for (const part of parts) {
      if (part.type === 'reasoning' && part.state) thoughts.push(part)
      if (part.type !== 'tool-call') continue
      if (thoughts.length > 0 || part.state) remember(keyOf(owner, part), thoughts, part.state)
      thoughts = []
    }
  }

  /** Thoughts come first in a turn, and later ones right before their calls. */
  function recallIn(owner: string, turn: AssistantTurn): AssistantTurn {
    if (turn.content.some((part) => 'state' in part && part.state)) return turn
    const first: ReasoningPart[] = []
    let calls = 0
    const content = turn.content.flatMap((part): AssistantPart[] => {
      if (part.type !== 'tool-call') return [part]
      const known = memories.get(keyOf(owner, part))
      if (calls++ === 0 && known) first.push(...known.thoughts)
      const thoughts = calls > 1 && known ? known.thoughts : []
      return [...thoughts, known?.state ? { ...part, state: known.state } : part]
    })
    return { ...turn, content: [...first, ...content] }
  }

  return {
    keep,
    listen: (owner, emit) => collecting((parts) => keep(owner, parts), emit),
    recall(owner, turns) {
      if (memories.size === 0) return turns
      return turns.map((turn) => (turn.role === 'assistant' ? recallIn(owner, turn) : turn))
    },
  }
}

const keyOf = (owner: string, { id }: ToolCallPart) => `${owner} ${id}`

const sizeOf = (state: OpaqueState | undefined) => state?.data.length ?? 0

/** Hands the thoughts and calls of a whole stream on; the arguments of the calls are nobody's concern here. */
function collecting(onWhole: (parts: AssistantPart[]) => void, emit: (event: StreamEvent) => void) {
  const parts = new Map<number, ReasoningPart | ToolCallPart>()
  const texts = new Map<number, string[]>()

  function whole(): AssistantPart[] {
    return Array.from(parts, ([key, part]) =>
      part.type === 'reasoning' ? { ...part, text: part.text + (texts.get(key)?.join('') ?? '') } : part,
    )
  }

  return (event: StreamEvent): void => {
    if (event.type === 'part-start' && event.candidate === 0 && isKept(event.part)) {
      parts.set(event.key, event.part)
      if (event.part.type === 'reasoning') texts.set(event.key, [])
    } else if (event.type === 'part-delta') texts.get(event.key)?.push(event.text)
    else if (event.type === 'part-state') {
      const part = parts.get(event.key)
      if (part) parts.set(event.key, { ...part, state: event.state })
    } else if (event.type === 'end' && parts.size > 0) onWhole(whole())
    emit(event)
  }
}

const isKept = (part: AssistantPart): part is ReasoningPart | ToolCallPart =>
  part.type === 'reasoning' || part.type === 'tool-call'
