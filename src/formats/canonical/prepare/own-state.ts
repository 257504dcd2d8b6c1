import type { ReasoningTraits } from '../../../traits.ts'
import type { AssistantPart, UserPart } from '../parts.ts'
import { belongsTo, type Origin } from '../state.ts'
import type { AssistantTurn, Turn } from '../turns.ts'

/**
 * Leaves of all thoughts and signatures only what the target made itself and wants to see again. The rest is dropped without a word: no other
 * vendor can read it, and none may.
 */
export function keepOwnState(turns: readonly Turn[], origin: Origin, replay: ReasoningTraits['replay']): Turn[] {
  const loopStart = turns.findLastIndex(({ role }) => role === 'user')
  return turns.map((turn, index) => {
    if (turn.role === 'user') return { ...turn, content: turn.content.map((part) => withOwnState(part, origin)) }
    if (turn.role !== 'assistant') return turn
    const keeps = replay === 'always' || (replay === 'tool-loop' && index > loopStart)
    return keepIn(turn, origin, keeps)
  })
}

function keepIn(turn: AssistantTurn, origin: Origin, keepsThoughts: boolean): AssistantTurn {
  const content = turn.content.flatMap((part): AssistantPart[] => {
    if (part.type !== 'reasoning') return [withOwnState(part, origin)]
    return keepsThoughts && part.state && belongsTo(part.state, origin) ? [part] : []
  })
  return { ...turn, content }
}

function withOwnState<P extends UserPart | AssistantPart>(part: P, origin: Origin): P {
  if (!('state' in part) || !part.state || belongsTo(part.state, origin)) return part
  const { state: _, ...rest } = part
  return rest as P // the state of every part is optional
}
