import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type Answer, settleFinish } from '../canonical/answer.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { defined } from '../canonical/defined.ts'
import type { AssistantPart, TextPart } from '../canonical/parts.ts'
import type { ReadContext } from '../translator.ts'
import { parseCitations } from './citations.ts'
import { parseSearchResults, queryOf } from './search.ts'
import { parseStop } from './stop-reason.ts'
import { parseTier } from './tier.ts'
import { messageUsage } from './usage.ts'

/** A provider's message. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  if (!Array.isArray(body.content))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent a message without content.' })
  const queries = new Map<string, string>()
  const content = body.content.flatMap((block: unknown) => (isObject(block) ? parseBlock(block, queries, context) : []))
  if (queries.size > 0) context.losses.dropped('server_tool_use') // has found nothing so far
  const hasToolCalls = content.some((part) => part.type === 'tool-call')
  return defined<Answer>({
    id: text(body.id) || undefined,
    model: text(body.model) || undefined,
    choices: [{ content, finish: settleFinish(parseStop(body), hasToolCalls) }],
    usage: messageUsage(body.usage),
    serviceTier: parseTier(body.usage),
  })
}

function parseBlock(block: JsonObject, queries: Map<string, string>, context: ReadContext): AssistantPart[] {
  const { origin, newId, losses } = context
  switch (block.type) {
    case 'text': {
      const said = text(block.text)
      const part = defined<TextPart>({ type: 'text', text: said, citations: parseCitations(block.citations, losses) })
      return said === '' && !part.citations ? [] : [part]
    }
    case 'thinking': {
      const [thinking, data] = [text(block.thinking), text(block.signature)]
      if (data !== '') return [{ type: 'reasoning', text: thinking, state: { origin, kind: 'signature', data } }]
      return thinking === '' ? [] : [{ type: 'reasoning', text: thinking }]
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: text(block.data) } }]
    case 'tool_use': {
      const name = text(block.name)
      if (name === '') break
      const id = text(block.id) || `toolu_${newId()}`
      return [{ type: 'tool-call', id, name, arguments: argumentsText(block.input) }]
    }
    case 'server_tool_use':
      if (block.name !== 'web_search') break
      queries.set(text(block.id), queryOf(block.input))
      return []
    case 'web_search_tool_result':
      return [parseSearchResults(block, queries)]
  }
  losses.dropped(text(block.type) || 'content')
  return []
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
