import { assertNever } from '../../../lib/assert-never.ts'
import type { TargetContext } from '../../translator.ts'
import type { Part } from '../parts.ts'
import { CONTINUE_TEXT, type SystemTurn, type Turn, type UserTurn } from '../turns.ts'

/**
 * Puts instructions where the target accepts them. Those after the first turn never move to the front, where they would mean something else
 * and break every cached prefix: a target that accepts none later gets them in a user turn, marked as instructions. Some targets accept them
 * directly before an answer only.
 */
export function fitSystem(turns: readonly Turn[], { traits, warnings }: TargetContext): Turn[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const fitted: Turn[] = []
  let waiting: SystemTurn[] = []
  /** Places the waiting instructions, as late as they still apply to the next answer. */
  const place = () => {
    if (waiting.length === 0) return
    const isAfterUser = fitted.at(-1)?.role !== 'assistant'
    if (traits.lateSystem && isAfterUser) fitted.push(...waiting)
    else {
      warn()
      fitted.push(wrapped(waiting))
    }
    waiting = []
  }
  const warn = () => {
    for (const turn of waiting) warnings.noteChanged(warnings.pathOf(turn, 'turns'), 'moved')
  }
  turns.forEach((turn, index) => {
    if (turn.role === 'system') {
      const known: SystemTurn = turn.as === 'developer' && !traits.developerRole ? { ...turn, as: 'system' } : turn
      if (traits.lateSystem === true || first === -1 || index < first) fitted.push(known)
      else waiting.push(known)
      return
    }
    if (traits.lateSystem === 'before-answer' && turn.role !== 'assistant') {
      warn()
      fitted.push(turn)
      return
    }
    if (turn.role === 'user' && waiting.length > 0) {
      warn()
      fitted.push({ ...turn, content: [...wrapped(waiting).content, ...turn.content] })
      waiting = []
      return
    }
    place()
    fitted.push(turn)
  })
  place()
  return fitted
}

function wrapped(turns: readonly SystemTurn[]): UserTurn {
  const texts = turns.map(({ content }) => content.map(({ text }) => text).join('\n\n'))
  return { role: 'user', content: texts.map((text) => ({ type: 'text', text: `<system>\n${text}\n</system>` })) }
}

/**
 * Removes empty texts and empty turns, which several providers refuse. A user turn without another beside it stays, since the model would
 * otherwise continue its own text: where the target takes no empty text, it becomes a request to continue.
 */
export function withoutEmpty(turns: readonly Turn[], target: TargetContext): Turn[] {
  const kept: Turn[] = []
  turns.forEach((turn, index) => {
    const rest = withoutEmptyParts(turn, target)
    const hasUserBeside = isOfUser(kept.at(-1)) || isOfUser(turns[index + 1])
    if (hasContent(rest)) kept.push(rest)
    else if (rest.role === 'user' && !hasUserBeside) kept.push(continueTurn(rest, target))
  })
  return kept
}

function withoutEmptyParts(turn: Turn, { traits }: TargetContext): Turn {
  const isKept = (part: Part) => isMeaningful(part, traits.emptyText === 'refused')
  switch (turn.role) {
    case 'system':
      return { ...turn, content: turn.content.filter(isKept) }
    case 'user':
      return { ...turn, content: turn.content.filter(isKept) }
    case 'assistant':
      return { ...turn, content: turn.content.filter(isKept) }
    case 'tool':
      return {
        ...turn,
        results: turn.results.map((result) => ({ ...result, content: result.content.filter(isKept) })),
      }
    default:
      return assertNever(turn)
  }
}

function isMeaningful(part: Part, needsWords: boolean): boolean {
  const isText = (text: string) => (needsWords ? text.trim() : text) !== ''
  if (part.type === 'text') return isText(part.text) || part.state !== undefined
  return part.type !== 'refusal' || isText(part.text)
}

const hasContent = (turn: Turn): boolean => (turn.role === 'tool' ? turn.results : turn.content).length > 0

/** Does the turn count as the user's? Tool results do, since formats with two roles send them as the user's. */
const isOfUser = (turn: Turn | undefined): boolean => turn?.role === 'user' || turn?.role === 'tool'

function continueTurn(turn: UserTurn, { traits, warnings }: TargetContext): UserTurn {
  if (traits.emptyText === 'taken') return turn
  warnings.noteChanged(warnings.pathOf(turn, 'turns'), 'replaced')
  return { ...turn, content: [{ type: 'text', text: CONTINUE_TEXT }] }
}

/** Adds a request to continue after an assistant turn at the end, for a target that does not continue one. */
export function fitEnd(turns: readonly Turn[], { traits, warnings }: TargetContext): Turn[] {
  const last = turns.at(-1)
  if (traits.prefill || last?.role !== 'assistant' || last.content.some(({ type }) => type === 'tool-call'))
    return [...turns]
  warnings.noteChanged('turns', 'added')
  return [...turns, CONTINUE]
}

const CONTINUE: UserTurn = { role: 'user', content: [{ type: 'text', text: CONTINUE_TEXT }] }
