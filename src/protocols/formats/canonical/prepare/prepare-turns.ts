import { assertNever } from '../../../../lib/assert-never.ts'
import { removeBillingLine } from '../../claude-code.ts'
import type { TargetContext } from '../../translator.ts'
import type { Part } from '../canonical-parts.ts'
import { CONTINUE_TEXT, type SystemTurn, type Turn, type UserTurn } from '../canonical-turns.ts'

/**
 * Puts instructions where the target accepts them. Instructions after the first turn never move to the front, where they would mean something else
 * and invalidate every cached prefix. A target that only accepts instructions at the start gets them in a user turn, marked as instructions. Some
 * targets only accept them directly before a response.
 */
export function fitSystemTurns(turns: readonly Turn[], { traits, warnings }: TargetContext): Turn[] {
  const firstTurnIndex = turns.findIndex(({ role }) => role !== 'system')
  const fittedTurns: Turn[] = []
  let pendingTurns: SystemTurn[] = []
  /** Adds the pending instructions. They come as late as possible, but before the response that they apply to. */
  const flush = () => {
    if (pendingTurns.length === 0) return
    const isAfterUser = fittedTurns.at(-1)?.role !== 'assistant'
    if (traits.lateSystem && isAfterUser) fittedTurns.push(...pendingTurns)
    else {
      warnAboutMove()
      fittedTurns.push(wrapInstructions(pendingTurns))
    }
    pendingTurns = []
  }
  const warnAboutMove = () => {
    for (const turn of pendingTurns) warnings.recordChange(warnings.getPath(turn, 'turns'), 'moved')
  }
  turns.forEach((turn, index) => {
    if (turn.role === 'system') {
      const systemTurn: SystemTurn =
        turn.sentAs === 'developer' && !traits.developerRole ? { ...turn, sentAs: 'system' } : turn
      if (traits.lateSystem === true || firstTurnIndex === -1 || index < firstTurnIndex) fittedTurns.push(systemTurn)
      else pendingTurns.push(systemTurn)
      return
    }
    if (traits.lateSystem === 'before-answer' && turn.role !== 'assistant') {
      warnAboutMove()
      fittedTurns.push(turn)
      return
    }
    if (turn.role === 'user' && pendingTurns.length > 0) {
      warnAboutMove()
      fittedTurns.push({ ...turn, content: [...wrapInstructions(pendingTurns).content, ...turn.content] })
      pendingTurns = []
      return
    }
    flush()
    fittedTurns.push(turn)
  })
  flush()
  return fittedTurns
}

/** Removes Claude Code's billing line from the first instructions. It isn't content, so no warning names it. */
export function dropBillingLine(turns: readonly Turn[]): readonly Turn[] {
  const [firstTurn, ...rest] = turns
  const [part, ...others] = firstTurn?.role === 'system' ? firstTurn.content : []
  const text = part && removeBillingLine(part.text)
  if (firstTurn?.role !== 'system' || !part || text === undefined || text === part.text) return turns
  const content = text.trim() === '' ? others : [{ ...part, text }, ...others]
  return content.length > 0 ? [{ ...firstTurn, content }, ...rest] : rest
}

function wrapInstructions(turns: readonly SystemTurn[]): UserTurn {
  return {
    role: 'user',
    content: turns.map(({ content }) => {
      const text = content.map((part) => part.text).join('\n\n')
      const cache = content.findLast((part) => part.cache)?.cache
      return { type: 'text', text: `<system>\n${text}\n</system>`, ...(cache && { cache }) }
    }),
  }
}

/**
 * Removes empty strings and empty turns, which several providers reject. Keeps an empty user turn unless another user turn is next to it, because the
 * model would otherwise continue its own text. If the target rejects empty text, the turn becomes a request to continue.
 */
export function dropEmptyTurns(turns: readonly Turn[], target: TargetContext): Turn[] {
  const retainedTurns: Turn[] = []
  turns.forEach((turn, index) => {
    const trimmedTurn = dropEmptyParts(turn, target)
    const hasAdjacentUser = isUserTurn(retainedTurns.at(-1)) || isUserTurn(turns[index + 1])
    const { length } = trimmedTurn.role === 'tool' ? trimmedTurn.results : trimmedTurn.content
    if (length > 0) retainedTurns.push(trimmedTurn)
    else if (trimmedTurn.role === 'user' && !hasAdjacentUser) retainedTurns.push(fillEmptyTurn(trimmedTurn, target))
  })
  return retainedTurns
}

function dropEmptyParts(turn: Turn, { traits }: TargetContext): Turn {
  const hasContent = (part: Part) => isMeaningful(part, traits.emptyText === 'refused')
  switch (turn.role) {
    case 'system':
      return { ...turn, content: turn.content.filter(hasContent) }
    case 'user':
      return { ...turn, content: turn.content.filter(hasContent) }
    case 'assistant':
      return { ...turn, content: turn.content.filter(hasContent) }
    case 'tool':
      return {
        ...turn,
        results: turn.results.map((result) => ({ ...result, content: result.content.filter(hasContent) })),
      }
    default:
      return assertNever(turn)
  }
}

/** Returns whether the part has content for a provider. `rejectsBlankText` means that the provider rejects blank text. */
export function isMeaningful(part: Part, rejectsBlankText: boolean): boolean {
  const hasText = (text: string) => (rejectsBlankText ? text.trim() : text) !== ''
  if (part.type === 'text') return hasText(part.text) || part.state !== undefined
  return part.type !== 'refusal' || hasText(part.text)
}

/** Returns whether the turn is treated as a user turn. Tool results are, because formats with two roles send them as user messages. */
const isUserTurn = (turn: Turn | undefined): boolean => turn?.role === 'user' || turn?.role === 'tool'

function fillEmptyTurn(turn: UserTurn, { traits, warnings }: TargetContext): UserTurn {
  if (traits.emptyText === 'taken') return turn
  warnings.recordChange(warnings.getPath(turn, 'turns'), 'replaced')
  return { ...turn, content: [{ type: 'text', text: CONTINUE_TEXT }] }
}

/** Adds a request to continue if the conversation ends with an assistant turn and the target can't continue one. */
export function fitLastTurn(turns: readonly Turn[], { traits, warnings }: TargetContext): Turn[] {
  const lastTurn = turns.at(-1)
  if (traits.prefill || lastTurn?.role !== 'assistant' || lastTurn.content.some(({ type }) => type === 'tool-call'))
    return [...turns]
  warnings.recordChange('turns', 'added')
  return [...turns, CONTINUE_TURN]
}

const CONTINUE_TURN: UserTurn = { role: 'user', content: [{ type: 'text', text: CONTINUE_TEXT }] }
