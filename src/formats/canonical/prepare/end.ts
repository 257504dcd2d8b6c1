import type { Traits } from '../../../traits.ts'
import { GO_ON } from '../go-on.ts'
import type { Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/** A conversation that ends with the assistant's own words, for a target that does not continue them: it is asked to go on. */
export function fitEnd(turns: readonly Turn[], { traits, warnings }: { traits: Traits; warnings: Warnings }): Turn[] {
  const last = turns.at(-1)
  if (traits.prefill || last?.role !== 'assistant' || last.content.some(({ type }) => type === 'tool-call'))
    return [...turns]
  warnings.changed('turns', 'added')
  return [...turns, ASKED]
}

const ASKED: UserTurn = { role: 'user', content: [{ type: 'text', text: GO_ON }] }
