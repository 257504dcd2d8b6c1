import type { Citation } from './citations.ts'
import type { Turn } from './turns.ts'
import type { Warnings } from './warnings.ts'

/** What a format has a place for, of what is said about a turn and its texts. */
export interface Labels {
  names?: true
  phases?: true
  /** Which citations of what the model said before. */
  citations?(citation: Citation): boolean
}

/** Tells what is lost of a participant's name, of the phase of an answer, and of where it has something from. */
export function dropLabels(turn: Turn, warnings: Warnings, { names, phases, citations = () => false }: Labels): void {
  if (turn.role === 'tool') return
  if (!names && turn.name !== undefined) warnings.dropped(warnings.pathOf(turn, 'messages', 'name'))
  if (turn.role !== 'assistant') return
  for (const part of turn.content) {
    if (part.type !== 'text') continue
    if (!phases && part.phase) warnings.dropped(warnings.pathOf(part, 'turns', 'phase'))
    if (part.citations && !part.citations.every(citations))
      warnings.dropped(warnings.pathOf(part, 'turns', 'citations'))
  }
}
