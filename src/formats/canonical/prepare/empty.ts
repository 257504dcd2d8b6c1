import type { Traits } from '../../../traits.ts'
import { GO_ON } from '../go-on.ts'
import type { Part } from '../parts.ts'
import type { Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

interface Target {
  traits: Pick<Traits, 'emptyText'>
  warnings: Warnings
}

/**
 * The conversation without texts that say nothing and turns that hold nothing: several providers refuse them. What a user says is a turn all
 * the same, since without it the model would go on with its own words: where the target takes no empty one, it is asked to continue.
 */
export function withoutEmpty(turns: readonly Turn[], target: Target): Turn[] {
  const kept: Turn[] = []
  turns.forEach((turn, index) => {
    const rest = withoutEmptyParts(turn, target)
    const isBesideOthers = isOfUser(kept.at(-1)) || isOfUser(turns[index + 1])
    if (holdsSomething(rest)) kept.push(rest)
    else if (rest.role === 'user' && !isBesideOthers) kept.push(standIn(rest, target))
  })
  return kept
}

function withoutEmptyParts(turn: Turn, { traits }: Target): Turn {
  const says = (part: Part) => saysSomething(part, traits.emptyText === 'refused')
  switch (turn.role) {
    case 'system':
      return { ...turn, content: turn.content.filter(says) }
    case 'user':
      return { ...turn, content: turn.content.filter(says) }
    case 'assistant':
      return { ...turn, content: turn.content.filter(says) }
    case 'tool':
      return {
        ...turn,
        results: turn.results.map((result) => ({ ...result, content: result.content.filter(says) })),
      }
  }
}

function saysSomething(part: Part, needsWords: boolean): boolean {
  const isSaid = (text: string) => (needsWords ? text.trim() : text) !== ''
  if (part.type === 'text') return isSaid(part.text) || part.state !== undefined
  return part.type !== 'refusal' || isSaid(part.text)
}

const holdsSomething = (turn: Turn): boolean => (turn.role === 'tool' ? turn.results : turn.content).length > 0

/** A result of a tool is the user's, too, in formats that know two roles only. */
const isOfUser = (turn: Turn | undefined): boolean => turn?.role === 'user' || turn?.role === 'tool'

function standIn(turn: UserTurn, { traits, warnings }: Target): UserTurn {
  if (traits.emptyText === 'taken') return turn
  warnings.changed(warnings.pathOf(turn, 'turns'), 'replaced')
  return { ...turn, content: [{ type: 'text', text: GO_ON }] }
}
