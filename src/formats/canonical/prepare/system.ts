import type { Traits } from '../../../traits.ts'
import type { SystemTurn, Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Instructions as the target takes them. Those behind the first turn never move to the front, where they would mean something else and spoil
 * every cached prefix: a target that takes none there gets them in a user's words, marked as what they are. Some take them only right before
 * an answer, which is what they are about anyway.
 */
export function fitSystem(
  turns: readonly Turn[],
  { traits, warnings }: { traits: Traits; warnings: Warnings },
): Turn[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const fitted: Turn[] = []
  let waiting: SystemTurn[] = []
  /** Says what waits, at the latest place where it still holds for the next answer. */
  const say = () => {
    if (waiting.length === 0) return
    const isBehindUser = fitted.at(-1)?.role !== 'assistant'
    if (traits.lateSystem && isBehindUser) fitted.push(...waiting)
    else {
      tell()
      fitted.push(wrapped(waiting))
    }
    waiting = []
  }
  const tell = () => {
    for (const turn of waiting) warnings.changed(warnings.pathOf(turn, 'turns'), 'moved')
  }
  turns.forEach((turn, index) => {
    if (turn.role === 'system') {
      const known: SystemTurn = turn.as === 'developer' && !traits.developerRole ? { ...turn, as: 'system' } : turn
      if (traits.lateSystem === true || first === -1 || index < first) fitted.push(known)
      else waiting.push(known)
      return
    }
    if (traits.lateSystem === 'before-answer' && turn.role !== 'assistant') {
      tell()
      fitted.push(turn)
      return
    }
    if (turn.role === 'user' && waiting.length > 0) {
      tell()
      fitted.push({ ...turn, content: [...wrapped(waiting).content, ...turn.content] })
      waiting = []
      return
    }
    say()
    fitted.push(turn)
  })
  say()
  return fitted
}

function wrapped(turns: readonly SystemTurn[]): UserTurn {
  const texts = turns.map(({ content }) => content.map(({ text }) => text).join('\n\n'))
  return { role: 'user', content: texts.map((text) => ({ type: 'text', text: `<system>\n${text}\n</system>` })) }
}
