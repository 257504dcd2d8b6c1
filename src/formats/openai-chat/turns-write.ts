import { defined } from '../canonical/defined.ts'
import { dropLabels } from '../canonical/drop-labels.ts'
import type { SystemTurn, ToolResult, Turn } from '../canonical/turns.ts'
import type { TargetContext } from '../translator.ts'
import { writeAssistant } from './assistant-write.ts'
import { writeContent, writeTexts } from './parts-write.ts'
import type { WireAssistantMessage, WireMessage, WireSystemMessage } from './wire.ts'

/** `messages`. Instructions out of a field of their own are one message, however many blocks they had. */
export function writeTurns(turns: readonly Turn[], target: TargetContext): WireMessage[] {
  for (const turn of turns) dropLabels(turn, target.warnings, { names: true })
  return joinInstructions(turns).flatMap((turn) => writeTurn(turn, target))
}

function writeTurn(turn: Turn, target: TargetContext): WireMessage[] {
  switch (turn.role) {
    case 'system':
      return [writeSystem(turn, target)]
    case 'user':
      return [defined({ role: turn.role, content: writeContent(turn.content, target), name: turn.name })]
    case 'assistant':
      return [writeAssistant(turn, target)].filter(saysSomething)
    case 'tool':
      return turn.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.callId,
        content: writeResult(result, target),
      }))
  }
}

/** Where a picture was all that the model answered, nothing is left of it, which would be refused. */
const saysSomething = ({ role, name, content, ...more }: WireAssistantMessage): boolean =>
  content !== null || Object.keys(more).length > 0

function writeSystem({ as, content, name }: SystemTurn, target: TargetContext): WireSystemMessage {
  const role = as === 'developer' ? 'developer' : 'system'
  return defined<WireSystemMessage>({ role, content: writeTexts(content, target, '\n\n'), name })
}

/** A tool's result has no mark for an error, so the text says it. */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext) {
  const last = content.at(-1)
  const marked = cache && last && last.type !== 'video' ? [...content.slice(0, -1), { ...last, cache }] : content
  const written = writeTexts(marked, target, '\n')
  if (!isError) return written
  return typeof written === 'string' ? `Error: ${written}` : [{ type: 'text' as const, text: 'Error: ' }, ...written]
}

function joinInstructions(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    const isMore =
      turn.role === 'system' && last?.role === 'system' && turn.as === 'instructions' && last.as === 'instructions'
    if (isMore) joined.splice(-1, 1, { ...last, content: [...last.content, ...turn.content] })
    else joined.push(turn)
  }
  return joined
}
