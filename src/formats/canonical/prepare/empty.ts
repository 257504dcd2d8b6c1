import type { Part } from '../parts.ts'
import type { Turn } from '../turns.ts'

/** The conversation without texts that say nothing and turns that hold nothing: several providers refuse them. */
export function withoutEmpty(turns: readonly Turn[]): Turn[] {
  return turns.flatMap(withoutEmptyParts)
}

function withoutEmptyParts(turn: Turn): Turn[] {
  switch (turn.role) {
    case 'system':
      return nonEmpty({ ...turn, content: turn.content.filter(saysSomething) })
    case 'user':
      return nonEmpty({ ...turn, content: turn.content.filter(saysSomething) })
    case 'assistant':
      return nonEmpty({ ...turn, content: turn.content.filter(saysSomething) })
    case 'tool': {
      const results = turn.results.map((result) => ({ ...result, content: result.content.filter(saysSomething) }))
      return results.length > 0 ? [{ ...turn, results }] : []
    }
  }
}

const nonEmpty = <T extends { content: readonly unknown[] }>(turn: T): T[] => (turn.content.length > 0 ? [turn] : [])

function saysSomething(part: Part): boolean {
  if (part.type === 'text') return part.text !== '' || part.state !== undefined
  return part.type !== 'refusal' || part.text !== ''
}
