import { createUniqueIds } from '../ids.ts'
import type { AssistantPart, ToolCallPart } from '../parts.ts'
import type { AssistantTurn, ToolResult, Turn, UserTurn } from '../turns.ts'
import type { Warnings } from '../warnings.ts'

/**
 * Puts each result directly after its call: one tool turn for each assistant turn with calls, in the order of the calls. Content of the
 * assistant between a call and its result joins the turn of the call; user and developer turns in between move after the results. The last
 * result of a call counts; a result without a call becomes a user turn; a call without a result gets one that reports that. Calls at the very
 * end stay open.
 */
export function pairTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const groups = new Map<AssistantTurn, Map<string, ToolResult>>()
  const orphans = new Map<Turn, ToolResult[]>()
  const callers = new Map<string, AssistantTurn>() // by call id: the last turn that used it, as ids may return later in a conversation
  const joining = new Map<AssistantTurn, AssistantPart[]>() // what came before the results, by the turn with the calls
  const joined = new Set<Turn>()
  let caller: AssistantTurn | undefined
  let pending: AssistantTurn[] = [] // assistant turns since the caller's, which join it if another first result arrives
  const orphansOf = (turn: Turn) => {
    const known = orphans.get(turn) ?? []
    orphans.set(turn, known)
    return known
  }

  function join() {
    if (!caller || pending.length === 0) return
    const content = joining.get(caller) ?? []
    joining.set(caller, content)
    for (const turn of pending) {
      content.push(...turn.content)
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
      for (const { id } of calls) callers.set(id, turn)
    }
    if (turn.role !== 'tool') continue
    for (const result of turn.results) {
      const calling = callers.get(result.callId)
      const results = calling && groups.get(calling)
      const before = results?.get(result.callId)
      if (before) warnings.noteDropped(warnings.pathOf(before, 'turns'))
      else if (results) join()
      if (results) results.set(result.callId, result)
      else orphansOf(turn).push(result)
    }
  }
  return turns.flatMap((turn, index): Turn[] => {
    if (turn.role === 'tool') return (orphans.get(turn) ?? []).map((result) => asUserTurn(result, warnings))
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

/** The result of a call, with the name and kind of the call, which not every client repeats. */
function resultOf(call: ToolCallPart, result: ToolResult | undefined, warnings: Warnings): ToolResult {
  const { isFreeForm: _, ...found } = result ?? missing(call, warnings)
  const { name, isFreeForm } = call
  return isFreeForm ? { ...found, name, isFreeForm } : { ...found, name }
}

function missing(call: ToolCallPart, warnings: Warnings): ToolResult {
  warnings.noteChanged(warnings.pathOf(call, 'turns'), 'added')
  return { callId: call.id, content: [{ type: 'text', text: '[no result recorded]' }], isError: true }
}

function asUserTurn(result: ToolResult, warnings: Warnings): UserTurn {
  warnings.noteChanged(warnings.pathOf(result, 'turns'), 'replaced')
  return { role: 'user', content: result.content }
}

/**
 * Makes the ids of calls unique: some models count from 0 in each answer, and Anthropic refuses a conversation with a repeated id. Results must
 * come directly after their calls, in the same order. Later turns never change the ids of earlier ones.
 */
export function withoutRepeatedIds(turns: readonly Turn[]): Turn[] {
  const unique = createUniqueIds()
  let ids: string[] = [] // of the calls of the last assistant turn
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') {
      const results = turn.results.map((result, index) => ({ ...result, callId: ids[index] ?? result.callId }))
      return { ...turn, results }
    }
    if (turn.role !== 'assistant') return turn
    const content = turn.content.map((part) => (part.type === 'tool-call' ? { ...part, id: unique(part.id) } : part))
    ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    return { ...turn, content }
  })
}
