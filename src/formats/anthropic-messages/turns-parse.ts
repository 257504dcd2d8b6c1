import { defined } from '../canonical/defined.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { UserPart } from '../canonical/parts.ts'
import type { SystemTurn, ToolResult, Turn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseAssistant } from './assistant-parse.ts'
import { parseMark } from './marks.ts'
import { blocksOf, parseBlock, parseTexts } from './parts-parse.ts'

/** `system` and `messages`. The results of tools, which are a user's blocks here, are turns of their own. */
export function parseTurns(body: Fields, warnings: Warnings): Turn[] {
  const messages = body.list('messages') ?? warnings.refuse('messages', 'is required.')
  const turns: Turn[] = parseSystem(body, warnings)
  messages.forEach((entry, index) => {
    const message = elementFields(entry, `messages[${index}]`, warnings)
    for (const turn of parseMessage(message, warnings)) {
      warnings.place(turn, message.at)
      const last = turns.at(-1)
      if (turn.role === 'tool' && last?.role === 'tool') last.results.push(...turn.results)
      else turns.push(turn)
    }
    message.drop()
  })
  return turns
}

function parseSystem(body: Fields, warnings: Warnings): SystemTurn[] {
  return parseTexts(body, 'system', warnings).map((part) => ({ role: 'system', as: 'instructions', content: [part] }))
}

function parseMessage(message: Fields, warnings: Warnings): Turn[] {
  const role = message.text('role')
  if (message.any('content') === undefined) warnings.refuse(message.path('content'), 'is required.')
  switch (role) {
    case 'user':
      return parseUser(message, warnings)
    case 'assistant':
      return [{ role, content: parseAssistant(blocksOf(message, 'content', warnings), warnings) }]
    case 'system':
      return [{ role, as: 'system', content: parseTexts(message, 'content', warnings) }]
    default:
      return warnings.refuse(message.path('role'), 'must be user, assistant or system.')
  }
}

function parseUser(message: Fields, warnings: Warnings): Turn[] {
  const results: ToolResult[] = []
  const content: UserPart[] = []
  for (const block of blocksOf(message, 'content', warnings)) {
    if (block.text('type') === 'tool_result') results.push(parseResult(block, warnings))
    else content.push(...parseBlock(block, warnings))
  }
  const turns: Turn[] = results.length > 0 ? [{ role: 'tool', results }] : []
  if (content.length > 0 || results.length === 0) turns.push({ role: 'user', content })
  return turns
}

function parseResult(block: Fields, warnings: Warnings): ToolResult {
  const result = defined<ToolResult>({
    callId: block.text('tool_use_id') ?? warnings.refuse(block.path('tool_use_id'), 'is required.'),
    content: blocksOf(block, 'content', warnings).flatMap((inner) => parseBlock(inner, warnings)),
    isError: block.flag('is_error') || undefined,
    cache: parseMark(block, warnings),
  })
  block.drop()
  warnings.place(result, block.at)
  return result
}
