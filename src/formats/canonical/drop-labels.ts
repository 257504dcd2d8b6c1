import type { Turn } from './turns.ts'
import type { Warnings } from './warnings.ts'

/** Tells that a participant's name is lost, for formats that have no place for one. */
export function dropName(turn: Turn, warnings: Warnings): void {
  if (turn.role !== 'tool' && turn.name !== undefined) warnings.dropped(warnings.pathOf(turn, 'messages', 'name'))
}
