import type { AssistantPart, ToolCallPart } from '../canonical-parts.ts'
import type { AssistantTurn, ToolResult, Turn, UserTurn } from '../canonical-turns.ts'
import type { Warnings } from '../canonical-warnings.ts'
import { createUniqueIds } from '../ids.ts'

/**
 * Puts each result directly after its call: one tool turn for each assistant turn with calls, in call order. Assistant content between a call and its
 * result joins the turn with the call; user and developer turns in between move after the results. If a call has several results, the last one
 * counts. A result without a call becomes a user turn. A call without a result gets one that reports the missing result, except at the very end.
 */
export function pairToolResults(turns: readonly Turn[], warnings: Warnings): Turn[] {
  const resultsByTurn = new Map<AssistantTurn, Map<string, ToolResult>>()
  const orphansByTurn = new Map<Turn, ToolResult[]>()
  const callers = new Map<string, AssistantTurn>() // the last turn that used each call ID, because IDs may repeat
  const partsToJoin = new Map<AssistantTurn, AssistantPart[]>() // content that precedes the results, by the turn with the calls
  const joinedTurns = new Set<Turn>()
  let lastCaller: AssistantTurn | undefined
  let pendingTurns: AssistantTurn[] = [] // assistant turns after the caller's; they join it if another of its calls gets its first result
  const getOrphans = (turn: Turn) => {
    const toolResults = orphansByTurn.get(turn) ?? []
    orphansByTurn.set(turn, toolResults)
    return toolResults
  }

  function joinPendingTurns() {
    if (!lastCaller || pendingTurns.length === 0) return
    const content = partsToJoin.get(lastCaller) ?? []
    partsToJoin.set(lastCaller, content)
    for (const turn of pendingTurns) {
      content.push(...turn.content)
      joinedTurns.add(turn)
    }
    pendingTurns = []
  }

  for (const turn of turns) {
    if (turn.role === 'assistant') {
      const calls = getToolCalls(turn)
      if (calls.length === 0) pendingTurns.push(turn)
      else {
        resultsByTurn.set(turn, new Map())
        lastCaller = turn
        pendingTurns = []
      }
      for (const { id } of calls) callers.set(id, turn)
    }
    if (turn.role !== 'tool') continue
    for (const result of turn.results) {
      const callingTurn = callers.get(result.callId)
      const results = callingTurn && resultsByTurn.get(callingTurn)
      const previousResult = results?.get(result.callId)
      if (previousResult) warnings.recordDrop(warnings.getPath(previousResult, 'turns'))
      else if (results) joinPendingTurns()
      if (results) results.set(result.callId, result)
      else getOrphans(turn).push(result)
    }
  }
  return turns.flatMap((turn, index): Turn[] => {
    if (turn.role === 'tool') return (orphansByTurn.get(turn) ?? []).map((result) => toUserTurn(result, warnings))
    if (turn.role !== 'assistant') return [turn]
    if (joinedTurns.has(turn)) return []
    const results = resultsByTurn.get(turn)
    if (!results) return [turn]
    const joinedParts = partsToJoin.get(turn)
    const mergedTurn = joinedParts ? { ...turn, content: [...turn.content, ...joinedParts] } : turn
    return addResults(mergedTurn, results, { isLast: index === turns.length - 1, warnings })
  })
}

const getToolCalls = ({ content }: AssistantTurn): ToolCallPart[] => content.filter((part) => part.type === 'tool-call')

function addResults(
  turn: AssistantTurn,
  resultsByCallId: ReadonlyMap<string, ToolResult>,
  { isLast, warnings }: { isLast: boolean; warnings: Warnings },
): Turn[] {
  if (isLast) return [turn]
  return [
    turn,
    { role: 'tool', results: getToolCalls(turn).map((call) => toResult(call, resultsByCallId.get(call.id), warnings)) },
  ]
}

/** Adds a call's name and type to its result, because not every client repeats them. */
function toResult(call: ToolCallPart, result: ToolResult | undefined, warnings: Warnings): ToolResult {
  const { isFreeForm: _, ...resultFields } = result ?? createMissingResult(call, warnings)
  const { name, isFreeForm } = call
  return isFreeForm ? { ...resultFields, name, isFreeForm } : { ...resultFields, name }
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
  const makeUnique = createUniqueIds()
  let ids: string[] = [] // the last assistant turn's call IDs
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') {
      const results = turn.results.map((result, index) => ({ ...result, callId: ids[index] ?? result.callId }))
      return { ...turn, results }
    }
    if (turn.role !== 'assistant') return turn
    const content = turn.content.map((part) =>
      part.type === 'tool-call' ? { ...part, id: makeUnique(part.id) } : part,
    )
    ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    return { ...turn, content }
  })
}
