import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { type Answer, settleFinish } from '../../canonical/answer.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import type { AssistantPart, Citation, ReasoningPart } from '../../canonical/parts.ts'
import { defined, textIn, textOrEmpty } from '../../canonical/values.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import type { ReadContext } from '../../translator.ts'
import { converseUsage, parseStop } from '../fields.ts'

/** Parses a whole answer of Converse. */
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

function parseBlock(block: JsonObject, { origin, newId, responseWarnings }: ReadContext): AssistantPart[] {
  const { toolUse, reasoningContent, citationsContent } = block
  if (typeof block.text === 'string') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (isObject(citationsContent)) return parseCited(citationsContent, responseWarnings)
  if (isObject(reasoningContent)) return parseReasoning(reasoningContent, origin)
  if (isObject(toolUse) && toolUse.type !== SERVER_TOOL) {
    const name = textOrEmpty(toolUse.name)
    if (name === '') responseWarnings.noteDropped('toolUse')
    else
      return [
        {
          type: 'tool-call',
          id: textOrEmpty(toolUse.toolUseId) || `tooluse_${newId()}`,
          name,
          arguments: argumentsText(toolUse.input),
        },
      ]
  } else responseWarnings.noteDropped(Object.keys(block)[0] ?? 'content')
  return []
}

/** The type of a call to a tool that runs at the provider, which a client can neither answer nor read. */
export const SERVER_TOOL = 'server_tool_use'

function parseCited({ content, citations }: JsonObject, responseWarnings: ResponseWarnings): AssistantPart[] {
  const pieces = Array.isArray(content) ? content : []
  const text = pieces.map((piece: unknown) => (isObject(piece) ? textOrEmpty(piece.text) : '')).join('')
  const found = Array.isArray(citations) ? citations : []
  const known: Citation[] = found.flatMap((one: unknown) => (isObject(one) ? (parseCitation(one) ?? []) : []))
  if (known.length < found.length) responseWarnings.noteDropped('citations')
  if (text === '' && known.length === 0) return []
  return [{ type: 'text', text, ...(known.length > 0 && { citations: known }) }]
}

function parseReasoning(
  { reasoningText, redactedContent }: JsonObject,
  origin: ReadContext['origin'],
): ReasoningPart[] {
  if (typeof redactedContent === 'string')
    return [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: redactedContent } }]
  if (!isObject(reasoningText)) return []
  const [text, data] = [textOrEmpty(reasoningText.text), textOrEmpty(reasoningText.signature)]
  if (data !== '') return [{ type: 'reasoning', text, state: { origin, kind: 'signature', data } }]
  return text === '' ? [] : [{ type: 'reasoning', text }]
}

/** Parses the count in an answer of `CountTokens`. */
export function parseCount({ inputTokens }: JsonObject): number | undefined {
  return typeof inputTokens === 'number' ? inputTokens : undefined
}

/** Parses a citation, of a whole answer or a stream; `undefined` when it has neither an address nor a place. */
export function parseCitation({ title, source, sourceContent, location }: JsonObject): Citation | undefined {
  const where = isObject(location) ? location : {}
  const web = isObject(where.web) ? where.web : {}
  const [kind, spot] = Object.entries(where).find(([name]) => Object.hasOwn(units, name)) ?? []
  const unit = kind === undefined ? undefined : units[kind]
  const { documentIndex, start, end } = isObject(spot) ? spot : {}
  const url = textIn(web.url) ?? textIn(source)
  if (url === undefined && unit === undefined) return undefined
  return defined<Citation>({
    url,
    title: textIn(title) ?? textIn(web.domain),
    quote: quoteOf(sourceContent),
    document: typeof documentIndex === 'number' ? documentIndex : undefined,
    place: unit && typeof start === 'number' && typeof end === 'number' ? { unit, start, end } : undefined,
  })
}

/** The units of places. */
const units: Readonly<Record<string, NonNullable<Citation['place']>['unit']>> = {
  documentChar: 'character',
  documentPage: 'page',
  documentChunk: 'block',
  searchResultLocation: 'block',
}

function quoteOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((piece: unknown) => (isObject(piece) ? (textIn(piece.text) ?? []) : []))
  return texts.length > 0 ? texts.join('') : undefined
}
