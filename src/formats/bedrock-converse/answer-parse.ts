import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type Answer, settleFinish } from '../canonical/answer.ts'
import { argumentsText } from '../canonical/arguments.ts'
import type { Citation } from '../canonical/citations.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { AssistantPart, ReasoningPart } from '../canonical/parts.ts'
import type { ReadContext } from '../translator.ts'
import { parseCitation } from './citations.ts'
import { parseStop } from './stop-reason.ts'
import { converseUsage } from './usage.ts'

/** A whole answer of Converse. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  const message = isObject(body.output) ? body.output.message : undefined
  const blocks = isObject(message) ? message.content : undefined
  if (!Array.isArray(blocks))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent a message without content.' })
  const content = blocks.flatMap((block: unknown) => (isObject(block) ? parseBlock(block, context) : []))
  const hasToolCalls = content.some(({ type }) => type === 'tool-call')
  const tier = isObject(body.serviceTier) ? body.serviceTier.type : undefined
  const finish = settleFinish(parseStop(body.stopReason, body.additionalModelResponseFields), hasToolCalls)
  return defined<Answer>({
    choices: [{ content, finish }],
    usage: converseUsage(body.usage),
    serviceTier: typeof tier === 'string' ? tier : undefined,
  })
}

function parseBlock(block: JsonObject, { origin, newId, losses }: ReadContext): AssistantPart[] {
  const { toolUse, reasoningContent, citationsContent } = block
  if (typeof block.text === 'string') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (isObject(citationsContent)) return parseCited(citationsContent, losses)
  if (isObject(reasoningContent)) return parseThought(reasoningContent, origin)
  if (isObject(toolUse) && toolUse.type !== SERVER_TOOL) {
    const name = text(toolUse.name)
    if (name === '') losses.dropped('toolUse')
    else
      return [
        {
          type: 'tool-call',
          id: text(toolUse.toolUseId) || `tooluse_${newId()}`,
          name,
          arguments: argumentsText(toolUse.input),
        },
      ]
  } else losses.dropped(Object.keys(block)[0] ?? 'content')
  return []
}

/** Tools that run at the provider, which a client can neither answer nor read. */
export const SERVER_TOOL = 'server_tool_use'

function parseCited({ content, citations }: JsonObject, losses: Losses): AssistantPart[] {
  const pieces = Array.isArray(content) ? content : []
  const said = pieces.map((piece: unknown) => (isObject(piece) ? text(piece.text) : '')).join('')
  const found = Array.isArray(citations) ? citations : []
  const known: Citation[] = found.flatMap((one: unknown) => (isObject(one) ? (parseCitation(one) ?? []) : []))
  if (known.length < found.length) losses.dropped('citations')
  if (said === '' && known.length === 0) return []
  return [{ type: 'text', text: said, ...(known.length > 0 && { citations: known }) }]
}

function parseThought({ reasoningText, redactedContent }: JsonObject, origin: ReadContext['origin']): ReasoningPart[] {
  if (typeof redactedContent === 'string')
    return [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: redactedContent } }]
  if (!isObject(reasoningText)) return []
  const [said, data] = [text(reasoningText.text), text(reasoningText.signature)]
  if (data !== '') return [{ type: 'reasoning', text: said, state: { origin, kind: 'signature', data } }]
  return said === '' ? [] : [{ type: 'reasoning', text: said }]
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
