import { gatewayError } from '../../../../errors.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, TextPart } from '../../canonical/canonical-parts.ts'
import { type CanonicalResponse, resolveFinish } from '../../canonical/canonical-response.ts'
import { omitUndefined, readStringOrEmpty } from '../../canonical/canonical-values.ts'
import type { ReaderContext } from '../../translator.ts'
import { parseCitations } from '../anthropic-citations.ts'
import { isReportedCall, type PendingCalls, parseFinish, parseServerResult, parseTier } from '../anthropic-fields.ts'
import { parseMessageUsage } from '../anthropic-response.ts'

/** Parses a provider's message. */
export function parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse {
  if (!Array.isArray(body.content))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a message without content.' })
  const pendingCalls: PendingCalls = new Map()
  const content = body.content.flatMap((block: unknown) =>
    isObject(block) ? parseBlock(block, pendingCalls, context) : [],
  )
  if (pendingCalls.size > 0) context.responseWarnings.recordDrop('server_tool_use') // these calls have no results
  const hasToolCalls = content.some((part) => part.type === 'tool-call')
  return omitUndefined<CanonicalResponse>({
    id: readStringOrEmpty(body.id) || undefined,
    model: readStringOrEmpty(body.model) || undefined,
    choices: [{ content, finish: resolveFinish(parseFinish(body), hasToolCalls) }],
    usage: parseMessageUsage(body.usage),
    serviceTier: parseTier(body.usage),
  })
}

function parseBlock(block: JsonObject, pendingCalls: PendingCalls, context: ReaderContext): AssistantPart[] {
  const { origin, newId, responseWarnings } = context
  switch (block.type) {
    case 'text': {
      const text = readStringOrEmpty(block.text)
      const part = omitUndefined<TextPart>({
        type: 'text',
        text,
        citations: parseCitations(block.citations, responseWarnings),
      })
      return text === '' && !part.citations ? [] : [part]
    }
    case 'thinking': {
      const [thinking, data] = [readStringOrEmpty(block.thinking), readStringOrEmpty(block.signature)]
      if (data !== '') return [{ type: 'reasoning', text: thinking, state: { origin, kind: 'signature', data } }]
      return thinking === '' ? [] : [{ type: 'reasoning', text: thinking }]
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', state: { origin, kind: 'redacted', data: readStringOrEmpty(block.data) } }]
    case 'tool_use': {
      const name = readStringOrEmpty(block.name)
      if (name === '') break
      const id = readStringOrEmpty(block.id) || `toolu_${newId()}`
      return [{ type: 'tool-call', id, name, arguments: stringifyArguments(block.input) }]
    }
    case 'server_tool_use':
      if (!isReportedCall(block, context)) break
      pendingCalls.set(readStringOrEmpty(block.id), block)
      return []
  }
  const result = parseServerResult(block, pendingCalls, context)
  if (result) return [result]
  responseWarnings.recordDrop(readStringOrEmpty(block.type) || 'content')
  return []
}

/** Parses the token count in a provider's response. Returns `undefined` if the body has none. */
export function parseCount(body: unknown): number | undefined {
  const tokens = isObject(body) ? body.input_tokens : undefined
  return typeof tokens === 'number' ? tokens : undefined
}
