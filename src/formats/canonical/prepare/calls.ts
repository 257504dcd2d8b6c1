import { argumentsOf } from '../arguments.ts'
import type { ToolCallPart } from '../parts.ts'
import type { ToolResult, Turn } from '../turns.ts'
import type { Renamer } from './names.ts'

interface Fit {
  renameTool: Renamer
  renameId: Renamer
  freeFormTools: boolean
}

/** Calls and results under ids and names that the target takes, and in kinds that it knows. */
export function fitCalls(turns: readonly Turn[], fit: Fit): Turn[] {
  return turns.map((turn): Turn => {
    if (turn.role === 'tool') return { ...turn, results: turn.results.map((result) => fitResult(result, fit)) }
    if (turn.role !== 'assistant') return turn
    return { ...turn, content: turn.content.map((part) => (part.type === 'tool-call' ? fitCall(part, fit) : part)) }
  })
}

function fitCall({ isFreeForm, ...call }: ToolCallPart, { renameTool, renameId, freeFormTools }: Fit): ToolCallPart {
  const fitted = { ...call, id: renameId(call.id), name: renameTool(call.name) }
  if (!isFreeForm) return fitted
  return freeFormTools ? { ...fitted, isFreeForm } : { ...fitted, arguments: JSON.stringify({ input: call.arguments }) }
}

function fitResult({ isFreeForm, ...result }: ToolResult, { renameTool, renameId, freeFormTools }: Fit): ToolResult {
  const { name } = result
  const fitted = { ...result, callId: renameId(result.callId), ...(name !== undefined && { name: renameTool(name) }) }
  return isFreeForm && freeFormTools ? { ...fitted, isFreeForm } : fitted
}

/** What a tool of free text was really given, out of a call with one input. */
export function freeText(call: string): string {
  const { input } = argumentsOf(call)
  return typeof input === 'string' ? input : call
}

/** Every id, and every name, that the calls of a conversation have. */
export function callsIn(turns: readonly Turn[]): { ids: Set<string>; names: Set<string> } {
  const ids = new Set<string>()
  const names = new Set<string>()
  for (const turn of turns) {
    if (turn.role === 'tool') for (const { callId } of turn.results) ids.add(callId)
    if (turn.role !== 'assistant') continue
    for (const part of turn.content) {
      if (part.type !== 'tool-call') continue
      ids.add(part.id)
      names.add(part.name)
    }
  }
  return { ids, names }
}
