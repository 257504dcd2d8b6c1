import type { AssistantPart, ToolCallPart } from '../parts.ts'
import type { AssistantTurn, ToolResult, Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Puts each result directly after its call: one tool turn for each assistant turn with calls, in the order of the calls. What the assistant
 * says before its results are there stays in the turn of the calls; what users and developers say meanwhile moves after the results. The last
 * result of a call counts; one that no call asked for becomes a user's words; a call that was passed over gets a result that says so. Calls at
 * the very end stay open.
 */
export function pairTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const groups = new Map<AssistantTurn, Map<string, ToolResult>>()
  const orphans = new Map<Turn, ToolResult[]>()
  const asked = new Map<string, AssistantTurn>() // who called last, for ids may return later in a conversation
  const joining = new Map<AssistantTurn, AssistantPart[]>() // what was said before the results, by the turn with the calls
  const joined = new Set<Turn>()
  let caller: AssistantTurn | undefined
  let pending: AssistantTurn[] = [] // said since the caller's turn; joins it if another first result arrives
  const orphansOf = (turn: Turn) => {
    const known = orphans.get(turn) ?? []
    orphans.set(turn, known)
    return known
  }

  function join() {
    if (!caller || pending.length === 0) return
    const said = joining.get(caller) ?? []
    joining.set(caller, said)
    for (const turn of pending) {
      said.push(...turn.content)
      joined.add(turn)
    }
    pending = []
  }

  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const calls = callsOf(turn)
      if (calls.length === 0) pending.push(turn)
      else {
        groups.set(turn, new Map())
        caller = turn
        pending = []
      }
      for (const { id } of calls) asked.set(id, turn)
    }
    if (turn.role !== 'tool') continue
    for (const result of turn.results) {
      const calling = asked.get(result.callId)
      const results = calling && groups.get(calling)
      const before = results?.get(result.callId)
      if (before) warnings.dropped(warnings.pathOf(before, 'turns'))
      else if (results) join()
      if (results) results.set(result.callId, result)
      else orphansOf(turn).push(result)
    }
  }
  return turns.flatMap((turn, index): Turn[] => {
    if (turn.role === 'tool') return (orphans.get(turn) ?? []).map((result) => spoken(result, warnings))
    if (turn.role !== 'assistant') return [turn]
    if (joined.has(turn)) return []
    const results = groups.get(turn)
    if (!results) return [turn]
    const more = joining.get(turn)
    const whole = more ? { ...turn, content: [...turn.content, ...more] } : turn
    return withResults(whole, results, { isLast: index === turns.length - 1, warnings })
  })
}

const callsOf = ({ content }: AssistantTurn): ToolCallPart[] => content.filter((part) => part.type === 'tool-call')

function withResults(
  turn: AssistantTurn,
  found: ReadonlyMap<string, ToolResult>,
  { isLast, warnings }: { isLast: boolean; warnings: Warnings },
): Turn[] {
  if (isLast) return [turn]
  return [turn, { role: 'tool', results: callsOf(turn).map((call) => resultOf(call, found.get(call.id), warnings)) }]
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
