import { gatewayError } from '../../../../errors.ts'
import { formatScalar, isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'
import type { SseEvent } from '../../../../lib/sse.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import type { AssistantPart, HostedCall, TextPart, ToolCallPart } from '../../canonical/canonical-parts.ts'
import { type CanonicalResponse, resolveFinish } from '../../canonical/canonical-response.ts'
import { createHostedToolPart } from '../../canonical/canonical-tools.ts'
import { omitUndefined, readString } from '../../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import { parseExactly } from '../../canonical/exact-json.ts'
import { parseEmbeddedError } from '../../errors/parse-error.ts'
import { parseTokenLogprobs } from '../../openai-fields.ts'
import type { ReaderContext } from '../../translator.ts'
import { parseClientCall } from '../responses-client-run-tools.ts'
import { parseAnnotations, parseFinish, parseGeneratedImage, parseSearch } from '../responses-fields.ts'
import { parseReasoningItem } from '../responses-reasoning.ts'
import { parseResponseUsage } from '../responses-response.ts'

/** Parses a provider's complete response. Throws `UPSTREAM_FAILED` if the response failed, even if it has output. */
export function parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse {
  if (body.status === 'failed' || body.status === 'cancelled') {
    const { message, status } = parseEmbeddedError(body.error)
    throw gatewayError('UPSTREAM_FAILED', { message, status })
  }
  if (!Array.isArray(body.output) || body.status === 'queued' || body.status === 'in_progress')
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a response without output.' })
  const parser = createOutputParser(context)
  const content = body.output.filter(isObject).flatMap(parser.parse)
  const hasCalls = content.some((part) => part.type === 'tool-call')
  return omitUndefined<CanonicalResponse>({
    id: readString(body.id),
    model: readString(body.model),
    choices: [{ content, finish: resolveFinish(parseFinish(body), hasCalls) }],
    usage: parseResponseUsage(body.usage),
    serviceTier: readString(body.service_tier),
  })
}

/** Returns the complete response in a stream's last event, or `undefined` if that response has no output. */
export function findResponse(events: readonly SseEvent[]): JsonObject | undefined {
  for (const { event, data } of events.toReversed()) {
    const message = parseExactly(data)
    if (!isObject(message) || !isObject(message.response)) continue
    if (!END_EVENTS.has(formatScalar(message.type ?? event))) continue
    const { output } = message.response
    return Array.isArray(output) && output.length > 0 ? message.response : undefined
  }
  return undefined
}

const END_EVENTS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

/** Creates a parser for one response's items. It gives each call a unique ID. */
export function createOutputParser({ origin, newId, responseWarnings, hasHostedTools }: ReaderContext) {
  const usedIds = new Set<string>()

  /** Parses an item, and warns about items for tools that the request didn't offer. */
  function parse(item: JsonObject): AssistantPart[] {
    switch (item.type) {
      case 'message':
        return parseMessage(item, responseWarnings)
      case 'reasoning':
        return toList(parseReasoningItem(item, origin))
      case 'function_call':
      case 'custom_tool_call':
        return toList(parseCall(item))
      case 'web_search_call':
        return [parseSearch(item)]
      case 'image_generation_call':
        return toList(parseGeneratedImage(item))
      default: {
        const call = parseClientCall(item)
        if (call) return [{ ...call, id: readCallId(item) }]
        const hostedCall = hasHostedTools ? parseHostedCall(item) : undefined
        if (hostedCall) return [createHostedToolPart(readString(item.id) ?? `call_${newId()}`, hostedCall)]
        responseWarnings.recordDrop(readString(item.type) ?? 'item')
        return []
      }
    }
  }

  function parseCall(item: JsonObject): ToolCallPart | undefined {
    const name = readString(item.name)
    if (!name) return void responseWarnings.recordDrop('function_call') // a client can't run a call without a name
    const id = readCallId(item)
    if (item.type === 'custom_tool_call')
      return { type: 'tool-call', id, name, arguments: readString(item.input) ?? '', isFreeForm: true }
    return { type: 'tool-call', id, name, arguments: stringifyArguments(item.arguments ?? '') }
  }

  /** Returns a call's ID. Some providers only send the item's ID, or the same ID twice. */
  function readCallId(item: JsonObject): string {
    const itemId = readString(item.call_id) ?? readString(item.id) ?? readString(item.item_id)
    const id = itemId && !usedIds.has(itemId) ? itemId : `call_${newId()}`
    usedIds.add(id)
    return id
  }

  return { parse, readCallId }
}

function parseHostedCall(item: JsonObject): HostedCall | undefined {
  const { code, container_id, outputs, queries, results = null, server_label, name, output, error } = item
  switch (item.type) {
    case 'code_interpreter_call':
      return { name: 'code_interpreter', input: { code, containerId: container_id }, result: { outputs } }
    case 'file_search_call':
      return { name: 'file_search', input: {}, result: { queries, results } }
    case 'mcp_call': {
      const callFields = { type: 'call', server_label, name, arguments: item.arguments }
      const input = tryParseJson(readString(item.arguments) ?? '')
      const result = { ...callFields, ...(output != null && { output }), ...(error != null && { error }) }
      return { name: `mcp.${name}`, input: isObject(input) ? input : {}, result }
    }
    default:
      return undefined
  }
}

function parseMessage({ content, phase }: JsonObject, responseWarnings: ResponseWarnings): AssistantPart[] {
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((part): AssistantPart[] => {
    if (part.type === 'refusal') {
      const refusal = readString(part.refusal)
      return refusal ? [{ type: 'refusal', text: refusal }] : []
    }
    dropUnknownPart(part, responseWarnings)
    const outputText = readString(part.text)
    if (part.type !== 'output_text' || !outputText) return []
    const citations = parseAnnotations(part.annotations, responseWarnings)
    return [
      omitUndefined<TextPart>({
        type: 'text',
        text: outputText,
        phase: parsePhase(phase),
        citations: citations.length > 0 ? citations : undefined,
        logprobs: parseTokenLogprobs(part.logprobs),
      }),
    ]
  })
}

/** Warns about a part that is neither text nor a refusal. Some providers omit the type of text parts. */
export function dropUnknownPart({ type }: JsonObject, responseWarnings: ResponseWarnings): void {
  if (typeof type === 'string' && type !== 'output_text' && type !== 'refusal') responseWarnings.recordDrop(type)
}

/** Parses a message's phase. Returns `undefined` if it is unknown. */
export const parsePhase = (phase: unknown): TextPart['phase'] =>
  phase === 'commentary' || phase === 'final_answer' ? phase : undefined

const toList = <T>(part: T | undefined): T[] => (part ? [part] : [])
