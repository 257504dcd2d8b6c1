import { elementFields, type Fields } from '../canonical/fields.ts'
import type { ToolResult, Turn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseContent, parseTexts } from '../openai-content.ts'
import { type LegacyCalls, parseAssistant } from './assistant-parse.ts'
import { messageContent } from './parts-parse.ts'

/** `messages`, each a turn; messages of tools that follow each other are one. */
export function parseTurns(messages: readonly unknown[], warnings: Warnings): Turn[] {
  const turns: Turn[] = []
  const calls: LegacyCalls = { last: undefined, count: 0 }
  messages.forEach((entry, index) => {
    const message = elementFields(entry, `messages[${index}]`, warnings)
    const turn = parseTurn(message, calls, warnings)
    message.drop()
    warnings.place(turn, message.at)
    const last = turns.at(-1)
    if (turn.role === 'tool' && last?.role === 'tool') last.results.push(...turn.results)
    else turns.push(turn)
  })
  return turns
}

function parseTurn(message: Fields, calls: LegacyCalls, warnings: Warnings): Turn {
  const role = message.text('role')
  switch (role) {
    case 'system':
    case 'developer':
      return {
        role: 'system',
        as: role,
        content: parseTexts(message, 'content', warnings, messageContent),
        ...named(message),
      }
    case 'user':
      return { role: 'user', content: parseContent(message, 'content', warnings, messageContent), ...named(message) }
    case 'assistant':
      return { role: 'assistant', content: parseAssistant(message, calls, warnings), ...named(message) }
    case 'tool':
    case 'function':
      return { role: 'tool', results: [parseResult(message, role, calls, warnings)] }
    default:
      return warnings.refuse(message.path('role'), 'must be system, developer, user, assistant or tool.')
  }
}

function parseResult(message: Fields, role: 'tool' | 'function', calls: LegacyCalls, warnings: Warnings): ToolResult {
  const callId = role === 'tool' ? message.text('tool_call_id') : calls.last
  if (callId === undefined)
    warnings.refuse(message.path('tool_call_id'), 'is required: the id of the call that this is the result of.')
  const result: ToolResult = {
    callId,
    content: parseContent(message, 'content', warnings, messageContent),
    ...named(message),
  }
  warnings.place(result, message.at)
  return result
}

function named(message: Fields): { name?: string } {
  const name = message.text('name')
  return name === undefined ? {} : { name }
}
