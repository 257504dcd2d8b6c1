import type { Citation } from './citations.ts'
import type { Turn } from './turns.ts'
import type { Warnings } from './warnings.ts'

/** Which labels of a turn and its texts a format has a place for. */
export interface Labels {
  names?: true
  phases?: true
  /** The citations of earlier answers that it has a place for. */
  citations?(citation: Citation): boolean
}

/** Warns of a participant's name, the phase of an answer and citations that are lost. */
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
