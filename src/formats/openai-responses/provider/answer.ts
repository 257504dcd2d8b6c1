import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { type Answer, settleFinish } from '../../canonical/answer.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { parseExactly } from '../../canonical/exact-json.ts'
import type { AssistantPart, HostedCall, TextPart, ToolCallPart } from '../../canonical/parts.ts'
import { hostedPart } from '../../canonical/tools.ts'
import { defined, textIn } from '../../canonical/values.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import { parseEmbeddedError } from '../../errors/parse.ts'
import { parseTokens } from '../../openai-fields.ts'
import type { ReadContext } from '../../translator.ts'
import { clientCall } from '../client-tools.ts'
import { finishOf, imagePart, parseAnnotations, searchPart } from '../fields.ts'
import { parseReasoningItem } from '../reasoning.ts'
import { responseUsage } from '../stream-state.ts'

/** Parses a provider's whole response. Throws `UPSTREAM_FAILED` for a failed one, whatever its output. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  if (body.status === 'failed' || body.status === 'cancelled') {
    const { message, status } = parseEmbeddedError(body.error)
    throw gatewayError('UPSTREAM_FAILED', { message, status })
  }
  if (!Array.isArray(body.output) || body.status === 'queued' || body.status === 'in_progress')
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without output.' })
  const parser = createOutputParser(context)
  const content = body.output.filter(isObject).flatMap(parser.parse)
  const hasCalls = content.some((part) => part.type === 'tool-call')
  return defined<Answer>({
    id: textIn(body.id),
    model: textIn(body.model),
    choices: [{ content, finish: settleFinish(finishOf(body), hasCalls) }],
    usage: responseUsage(body.usage),
    serviceTier: textIn(body.service_tier),
  })
}

/** The whole response in the last event of a stream; `undefined` if it leaves out the output. */
export function answerInStream(events: readonly SseEvent[]): JsonObject | undefined {
  for (const { event, data } of events.toReversed()) {
    const message = parseExactly(data)
    if (!isObject(message) || !isObject(message.response)) continue
    if (!END_EVENTS.has(String(message.type ?? event))) continue
    const { output } = message.response
    return Array.isArray(output) && output.length > 0 ? message.response : undefined
  }
  return undefined
}

const END_EVENTS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])

/** Creates a parser of the items of one answer, which gives each call an id of its own. */
export function createOutputParser({ origin, newId, responseWarnings, hasHosted }: ReadContext) {
  const ids = new Set<string>()

  /** The parts of an item. Items of tools that the request did not offer are reported as lost. */
  function parse(item: JsonObject): AssistantPart[] {
    switch (item.type) {
      case 'message':
        return parseMessage(item, responseWarnings)
      case 'reasoning':
        return listOf(parseReasoningItem(item, origin))
      case 'function_call':
      case 'custom_tool_call':
        return listOf(parseCall(item))
      case 'web_search_call':
        return [searchPart(item)]
      case 'image_generation_call':
        return listOf(imagePart(item))
      default: {
        const call = clientCall(item)
        if (call) return [{ ...call, id: callId(item) }]
        const hosted = hasHosted ? hostedCall(item) : undefined
        if (hosted) return [hostedPart(textIn(item.id) ?? `call_${newId()}`, hosted)]
        responseWarnings.noteDropped(textIn(item.type) ?? 'item')
        return []
      }
    }
  }

  function parseCall(item: JsonObject): ToolCallPart | undefined {
    const name = textIn(item.name)
    if (!name) return void responseWarnings.noteDropped('function_call') // without a name it cannot be run
    const id = callId(item)
    if (item.type === 'custom_tool_call')
      return { type: 'tool-call', id, name, arguments: textIn(item.input) ?? '', isFreeForm: true }
    return { type: 'tool-call', id, name, arguments: argumentsText(item.arguments ?? '') }
  }

  /** The id of a call. Some providers send only the id of the item, or the same id twice. */
  function callId(item: JsonObject): string {
    const given = textIn(item.call_id) ?? textIn(item.id) ?? textIn(item.item_id)
    const id = given && !ids.has(given) ? given : `call_${newId()}`
    ids.add(id)
    return id
  }

  return { parse, callId }
}

/** The call of a tool that ran at OpenAI, with its results; `undefined` for other items. */
function hostedCall(item: JsonObject): HostedCall | undefined {
  const { code, container_id, outputs, queries, results = null, server_label, name, output, error } = item
  switch (item.type) {
    case 'code_interpreter_call':
      return { name: 'code_interpreter', input: { code, containerId: container_id }, result: { outputs } }
    case 'file_search_call':
      return { name: 'file_search', input: {}, result: { queries, results } }
    case 'mcp_call': {
      const call = { type: 'call', server_label, name, arguments: item.arguments }
      const input = tryParseJson(textIn(item.arguments) ?? '')
      const result = { ...call, ...(output != null && { output }), ...(error != null && { error }) }
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
      const refusal = textIn(part.refusal)
      return refusal ? [{ type: 'refusal', text: refusal }] : []
    }
    dropUnknownPart(part, responseWarnings)
    const outputText = textIn(part.text)
    if (part.type !== 'output_text' || !outputText) return []
    const citations = parseAnnotations(part.annotations, responseWarnings)
    return [
      defined<TextPart>({
        type: 'text',
        text: outputText,
        phase: parsePhase(phase),
        citations: citations.length > 0 ? citations : undefined,
        logprobs: parseTokens(part.logprobs),
      }),
    ]
  })
}

/** Reports a part that is neither a text nor a refusal. Some providers leave out the type of texts. */
export function dropUnknownPart({ type }: JsonObject, responseWarnings: ResponseWarnings): void {
  if (typeof type === 'string' && type !== 'output_text' && type !== 'refusal') responseWarnings.noteDropped(type)
}

/** The phase of a message, if it is a known one. */
export const parsePhase = (phase: unknown): TextPart['phase'] =>
  phase === 'commentary' || phase === 'final_answer' ? phase : undefined

const listOf = <T>(part: T | undefined): T[] => (part ? [part] : [])
