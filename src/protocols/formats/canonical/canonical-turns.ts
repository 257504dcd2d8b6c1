import type {
  AssistantPart,
  CacheBreakpoint,
  Citation,
  NativeValue,
  TextPart,
  ToolResultContent,
  UserPart,
} from './canonical-parts.ts'
import type { Warnings } from './canonical-warnings.ts'

/**
 * Instructions. `instructions` means that they come from the format's separate field for initial instructions; the other values mean that they were
 * messages.
 */
export interface SystemTurn {
  role: 'system'
  sentAs: 'instructions' | 'system' | 'developer'
  content: TextPart[]
  name?: string
}

export interface UserTurn {
  role: 'user'
  content: UserPart[]
  name?: string
}

/** Everything that the model produced between two turns with other roles, in order. */
export interface AssistantTurn {
  role: 'assistant'
  content: AssistantPart[]
  name?: string
}

/** The results for the previous assistant turn's calls. User content sent with them follows as a separate user turn. */
export interface ToolTurn {
  role: 'tool'
  results: ToolResult[]
}

export interface ToolResult {
  callId: string
  /** The tool's name, taken from the call if the format's results have no name. */
  name?: string
  content: ToolResultContent[]
  isError?: true
  isFreeForm?: true
  cache?: CacheBreakpoint
  native?: NativeValue
}

export type Turn = SystemTurn | UserTurn | AssistantTurn | ToolTurn

interface SupportedLabels {
  names?: true
  phases?: true
  citations?(citation: Citation): boolean
}

/** Warns about participant names, response phases, and citations that the format doesn't support. */
export function dropLabels(
  turn: Turn,
  warnings: Warnings,
  { names, phases, citations = () => false }: SupportedLabels,
): void {
  if (turn.role === 'tool') return
  if (!names && turn.name !== undefined) warnings.recordDrop(warnings.getPath(turn, 'messages', 'name'))
  if (turn.role !== 'assistant') return
  for (const part of turn.content) {
    if (part.type !== 'text') continue
    if (!phases && part.phase) warnings.recordDrop(warnings.getPath(part, 'turns', 'phase'))
    if (part.citations && !part.citations.every(citations))
      warnings.recordDrop(warnings.getPath(part, 'turns', 'citations'))
  }
}

/** Separates the text parts in `insertedParts`, which the model didn't write, from the model's own text parts with a blank line. */
export function separateParagraphs(
  parts: readonly AssistantPart[],
  insertedParts: ReadonlySet<AssistantPart>,
): AssistantPart[] {
  return parts.map((part, index) => {
    const nextPart = parts[index + 1]
    if (part.type !== 'text' || nextPart?.type !== 'text' || !(insertedParts.has(part) || insertedParts.has(nextPart)))
      return part
    return { ...part, text: `${part.text.trimEnd()}\n\n` }
  })
}

/** The text of a user turn that a format or a model requires, if the client sent none or an empty one. */
export const CONTINUE_TEXT = '(continue)'
