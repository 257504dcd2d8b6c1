import type { ToolCallPart } from '../parts.ts'
import type { AssistantTurn, ToolResult, Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Puts each result right behind its call: one tool turn for each assistant turn with calls, in the order of the calls. The last result of a
 * call counts; one that no call asked for becomes a user's words; a call that was passed over gets a result that says so. Calls at the very
 * end stay open.
 */
export function pairTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const groups = new Map<AssistantTurn, Map<string, ToolResult>>()
  const orphans = new Map<Turn, ToolResult[]>()
  const asked = new Map<string, AssistantTurn>() // who called last, for ids may return later in a conversation
  const orphansOf = (turn: Turn) => {
    const known = orphans.get(turn) ?? []
    orphans.set(turn, known)
    return known
  }
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const calls = callsOf(turn)
      if (calls.length > 0) groups.set(turn, new Map())
      for (const { id } of calls) asked.set(id, turn)
    }
    if (turn.role !== 'tool') continue
    for (const result of turn.results) {
      const caller = asked.get(result.callId)
      const results = caller && groups.get(caller)
      const before = results?.get(result.callId)
      if (before) warnings.dropped(warnings.pathOf(before, 'turns'))
      if (results) results.set(result.callId, result)
      else orphansOf(turn).push(result)
    }
  }
  return turns.flatMap((turn, index): Turn[] => {
    if (turn.role === 'tool') return (orphans.get(turn) ?? []).map((result) => spoken(result, warnings))
    if (turn.role !== 'assistant') return [turn]
    const results = groups.get(turn)
    return results ? withResults(turn, results, { isLast: index === turns.length - 1, warnings }) : [turn]
  })
}

const callsOf = ({ content }: AssistantTurn): ToolCallPart[] => content.filter((part) => part.type === 'tool-call')

function withResults(
  turn: AssistantTurn,
  found: ReadonlyMap<string, ToolResult>,
  { isLast, warnings }: { isLast: boolean; warnings: Warnings },
): Turn[] {
  if (isLast) return [turn]
  const results = callsOf(turn).map((call) => resultOf(call, found.get(call.id), warnings))
  const after = turn.content.findLastIndex((part) => part.type === 'tool-call') + 1
  const words = turn.content.slice(after)
  if (words.length === 0) return [turn, { role: 'tool', results }]
  // What was said after the calls moves behind their results, since nothing may stand between the two.
  return [
    { ...turn, content: turn.content.slice(0, after) },
    { role: 'tool', results },
    { ...turn, content: words },
  ]
}

/** The result of a call is of its kind, which not every client says again. */
function resultOf(call: ToolCallPart, result: ToolResult | undefined, warnings: Warnings): ToolResult {
  const { isFreeForm: _, ...found } = result ?? missing(call, warnings)
  const { name, isFreeForm } = call
  return isFreeForm ? { ...found, name, isFreeForm } : { ...found, name }
}

function missing(call: ToolCallPart, warnings: Warnings): ToolResult {
  warnings.changed(warnings.pathOf(call, 'turns'), 'added')
  return { callId: call.id, content: [{ type: 'text', text: '[no result recorded]' }], isError: true }
}

function spoken(result: ToolResult, warnings: Warnings): UserTurn {
  warnings.changed(warnings.pathOf(result, 'turns'), 'replaced')
  return { role: 'user', content: result.content }
}
