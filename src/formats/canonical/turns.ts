import type { AssistantPart, CacheMark, Citation, OwnForm, TextPart, ToolResultContent, UserPart } from './parts.ts'
import type { Warnings } from './warnings.ts'

/**
 * Instructions. A run of them at the start is what formats keep in a field of their own; `instructions` came from such a field, the
 * others were messages, wherever they stood.
 */
export interface SystemTurn {
  role: 'system'
  as: 'instructions' | 'system' | 'developer'
  content: TextPart[]
  name?: string
}

export interface UserTurn {
  role: 'user'
  content: UserPart[]
  name?: string
}

/** Everything that the model produced between two turns of other roles, in order. */
export interface AssistantTurn {
  role: 'assistant'
  content: AssistantPart[]
  name?: string
}

/** The results of the calls in the assistant's turn before. User content beside them follows as a user turn. */
export interface ToolTurn {
  role: 'tool'
  results: ToolResult[]
}

export interface ToolResult {
  callId: string
  /** The name of the tool; taken from the call if the format's results have no name. */
  name?: string
  content: ToolResultContent[]
  isError?: true
  isFreeForm?: true
  cache?: CacheMark
  own?: OwnForm
}

export type Turn = SystemTurn | UserTurn | AssistantTurn | ToolTurn

/** The labels of a turn and its texts that a format supports. */
interface Labels {
  names?: true
  phases?: true
  /** Does it support this citation of an earlier answer? */
  citations?(citation: Citation): boolean
}

/** Warns of each participant's name, phase of an answer and citation that the format does not support. */
export function dropLabels(turn: Turn, warnings: Warnings, { names, phases, citations = () => false }: Labels): void {
  if (turn.role === 'tool') return
  if (!names && turn.name !== undefined) warnings.noteDropped(warnings.pathOf(turn, 'messages', 'name'))
  if (turn.role !== 'assistant') return
  for (const part of turn.content) {
    if (part.type !== 'text') continue
    if (!phases && part.phase) warnings.noteDropped(warnings.pathOf(part, 'turns', 'phase'))
    if (part.citations && !part.citations.every(citations))
      warnings.noteDropped(warnings.pathOf(part, 'turns', 'citations'))
  }
}

/** Adds a blank line between the texts in `inserted`, which describe something else, and the model's own. */
export function separateParagraphs(
  parts: readonly AssistantPart[],
  inserted: ReadonlySet<AssistantPart>,
): AssistantPart[] {
  return parts.map((part, index) => {
    const next = parts[index + 1]
    if (part.type !== 'text' || next?.type !== 'text' || !(inserted.has(part) || inserted.has(next))) return part
    return { ...part, text: `${part.text.trimEnd()}\n\n` }
  })
}

/** The text of a user turn that a format or a model requires where the client gave none, or an empty one. */
export const CONTINUE_TEXT = '(continue)'
