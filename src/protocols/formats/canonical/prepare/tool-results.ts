import type { AssistantPart, ToolCallPart } from '../canonical-parts.ts'
import type { AssistantTurn, ToolResult, Turn, UserTurn } from '../canonical-turns.ts'
import type { Warnings } from '../canonical-warnings.ts'
import { createUniqueIds } from '../ids.ts'

/**
 * Puts each result directly after its call: one tool turn for each assistant turn with calls, in call order. Assistant content between a call and its
 * result joins the turn with the call; user and developer turns in between move after the results. If a call has several results, the last one
 * counts. A result without a call becomes a user turn. A call without a result gets one that reports the missing result, except at the very end.
 */
export function pairTools(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const groups = new Map<AssistantTurn, Map<string, ToolResult>>()
  const orphans = new Map<Turn, ToolResult[]>()
  const callers = new Map<string, AssistantTurn>() // the last turn that used each call ID, because IDs may repeat
  const partsToJoin = new Map<AssistantTurn, AssistantPart[]>() // content that precedes the results, by the turn with the calls
  const joinedTurns = new Set<Turn>()
  let caller: AssistantTurn | undefined
  let pending: AssistantTurn[] = [] // assistant turns after the caller's; they join it if another of its calls gets its first result
  const listOrphans = (turn: Turn) => {
    const toolResults = orphans.get(turn) ?? []
    orphans.set(turn, toolResults)
    return toolResults
  }

  function join() {
    if (!caller || pending.length === 0) return
    const content = partsToJoin.get(caller) ?? []
    partsToJoin.set(caller, content)
    for (const turn of pending) {
      content.push(...turn.content)
      joinedTurns.add(turn)
    }
    pending = []
  }

  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const calls = getCalls(turn)
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
      const previous = results?.get(result.callId)
      if (previous) warnings.recordDrop(warnings.getPath(previous, 'turns'))
      else if (results) join()
      if (results) results.set(result.callId, result)
      else listOrphans(turn).push(result)
    }
  }
  return turns.flatMap((turn, index): Turn[] => {
    if (turn.role === 'tool') return (orphans.get(turn) ?? []).map((result) => toUserTurn(result, warnings))
    if (turn.role !== 'assistant') return [turn]
    if (joinedTurns.has(turn)) return []
    const results = groups.get(turn)
    if (!results) return [turn]
    const addedResults = partsToJoin.get(turn)
    const merged = addedResults ? { ...turn, content: [...turn.content, ...addedResults] } : turn
    return addResults(merged, results, { isLast: index === turns.length - 1, warnings })
  })
}

const getCalls = ({ content }: AssistantTurn): ToolCallPart[] => content.filter((part) => part.type === 'tool-call')

function addResults(
  turn: AssistantTurn,
  found: ReadonlyMap<string, ToolResult>,
  { isLast, warnings }: { isLast: boolean; warnings: Warnings },
): Turn[] {
  if (isLast) return [turn]
  return [turn, { role: 'tool', results: getCalls(turn).map((call) => toResult(call, found.get(call.id), warnings)) }]
}

/** Adds a call's name and type to its result, because not every client repeats them. */
function toResult(call: ToolCallPart, result: ToolResult | undefined, warnings: Warnings): ToolResult {
  const { isFreeForm: _, ...found } = result ?? createMissingResult(call, warnings)
  const { name, isFreeForm } = call
  return isFreeForm ? { ...found, name, isFreeForm } : { ...found, name }
}

function createMissingResult(call: ToolCallPart, warnings: Warnings): ToolResult {
  warnings.recordChange(warnings.getPath(call, 'turns'), 'added')
  return { callId: call.id, content: [{ type: 'text', text: '[no result recorded]' }], isError: true }
}

function toUserTurn(result: ToolResult, warnings: Warnings): UserTurn {
  warnings.recordChange(warnings.getPath(result, 'turns'), 'replaced')
  return { role: 'user', content: result.content }
}

/**
 * Makes call IDs unique: some models count from 0 in each response, and Anthropic rejects a conversation with a repeated ID. Results must follow
 * their calls directly, in the same order. Later turns never change earlier IDs.
 */
export function makeIdsUnique(turns: readonly Turn[]): Turn[] {
  const unique = createUniqueIds()
  let ids: string[] = [] // the last assistant turn's call IDs
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
