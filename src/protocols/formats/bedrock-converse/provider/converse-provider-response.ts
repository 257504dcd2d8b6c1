import { gatewayError } from '../../../../errors.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, Citation, ReasoningPart } from '../../canonical/canonical-parts.ts'
import { type CanonicalResponse, resolveFinish } from '../../canonical/canonical-response.ts'
import { omitUndefined, readString, readStringOrEmpty } from '../../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import type { ReaderContext } from '../../translator.ts'
import { parseFinish, readConverseUsage } from '../converse-fields.ts'

export function parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse {
  const message = isObject(body.output) ? body.output.message : undefined
  const blocks = isObject(message) ? message.content : undefined
  if (!Array.isArray(blocks))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a message without content.' })
  const content = blocks.flatMap((block: unknown) => (isObject(block) ? parseBlock(block, context) : []))
  const hasToolCalls = content.some(({ type }) => type === 'tool-call')
  const tier = isObject(body.serviceTier) ? body.serviceTier.type : undefined
  const finish = resolveFinish(parseFinish(body.stopReason, body.additionalModelResponseFields), hasToolCalls)
  return omitUndefined<CanonicalResponse>({
    choices: [{ content, finish }],
    usage: readConverseUsage(body.usage),
    serviceTier: typeof tier === 'string' ? tier : undefined,
  })
}

function parseBlock(block: JsonObject, { origin, newId, responseWarnings }: ReaderContext): AssistantPart[] {
  const { toolUse, reasoningContent, citationsContent } = block
  if (typeof block.text === 'string') return block.text === '' ? [] : [{ type: 'text', text: block.text }]
  if (isObject(citationsContent)) return parseCitedText(citationsContent, responseWarnings)
  if (isObject(reasoningContent)) return parseReasoning(reasoningContent, origin)
  if (isObject(toolUse) && toolUse.type !== SERVER_TOOL) {
    const name = readStringOrEmpty(toolUse.name)
    if (name === '') responseWarnings.recordDrop('toolUse')
    else
      return [
        {
          type: 'tool-call',
          id: readStringOrEmpty(toolUse.toolUseId) || `tooluse_${newId()}`,
          name,
          arguments: stringifyArguments(toolUse.input),
        },
      ]
  } else responseWarnings.recordDrop(Object.keys(block)[0] ?? 'content')
  return []
}

/** The type of a call to a provider-side tool, which clients can neither run nor read. */
export const SERVER_TOOL = 'server_tool_use'

function parseCitedText({ content, citations }: JsonObject, responseWarnings: ResponseWarnings): AssistantPart[] {
  const pieces = Array.isArray(content) ? content : []
  const text = pieces.map((piece: unknown) => (isObject(piece) ? readStringOrEmpty(piece.text) : '')).join('')
  const found = Array.isArray(citations) ? citations : []
  const knownCitations: Citation[] = found.flatMap((item: unknown) =>
    isObject(item) ? (parseCitation(item) ?? []) : [],
  )
  if (knownCitations.length < found.length) responseWarnings.recordDrop('citations')
  if (text === '' && knownCitations.length === 0) return []
  return [{ type: 'text', text, ...(knownCitations.length > 0 && { citations: knownCitations }) }]
}

function parseReasoning(
  { reasoningText, redactedContent }: JsonObject,
  origin: ReaderContext['origin'],
): ReasoningPart[] {
  if (typeof redactedContent === 'string')
    return [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: redactedContent } }]
  if (!isObject(reasoningText)) return []
  const [text, data] = [readStringOrEmpty(reasoningText.text), readStringOrEmpty(reasoningText.signature)]
  if (data !== '') return [{ type: 'reasoning', text, state: { origin, kind: 'signature', data } }]
  return text === '' ? [] : [{ type: 'reasoning', text }]
}

/** Parses the count in a `CountTokens` response. */
export function parseCount({ inputTokens }: JsonObject): number | undefined {
  return typeof inputTokens === 'number' ? inputTokens : undefined
}

/** Parses a citation in a complete response or a stream. Returns `undefined` if it has neither a URL nor a position. */
export function parseCitation({ title, source, sourceContent, location }: JsonObject): Citation | undefined {
  const cited = isObject(location) ? location : {}
  const web = isObject(cited.web) ? cited.web : {}
  const [kind, span] = Object.entries(cited).find(([name]) => Object.hasOwn(units, name)) ?? []
  const unit = kind === undefined ? undefined : units[kind]
  const { documentIndex, start, end } = isObject(span) ? span : {}
  const url = readString(web.url) ?? readString(source)
  if (url === undefined && unit === undefined) return undefined
  return omitUndefined<Citation>({
    url,
    title: readString(title) ?? readString(web.domain),
    quote: joinQuote(sourceContent),
    document: typeof documentIndex === 'number' ? documentIndex : undefined,
    position: unit && typeof start === 'number' && typeof end === 'number' ? { unit, start, end } : undefined,
  })
}

const units: Readonly<Record<string, NonNullable<Citation['position']>['unit']>> = {
  documentChar: 'character',
  documentPage: 'page',
  documentChunk: 'block',
  searchResultLocation: 'block',
}

function joinQuote(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((piece: unknown) => (isObject(piece) ? (readString(piece.text) ?? []) : []))
  return texts.length > 0 ? texts.join('') : undefined
}
