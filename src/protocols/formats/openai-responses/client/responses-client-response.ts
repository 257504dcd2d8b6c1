import { assertNever } from '../../../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type {
  AssistantPart,
  ImagePart,
  RefusalPart,
  ServerToolPart,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../canonical/canonical-request.ts'
import {
  type CanonicalResponse,
  type Finish,
  type TokenUsage,
  warnAboutFinish,
  warnAboutPause,
} from '../../canonical/canonical-response.ts'
import { sealSummary } from '../../canonical/canonical-state.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { writeTokenLogprobs } from '../../openai-fields.ts'
import type { WriterContext } from '../../translator.ts'
import { type ClientToolKind, createClientCall, isClientTool } from '../responses-client-run-tools.ts'
import { getPhase, wireEndings, writeAnnotation, writeUsage } from '../responses-fields.ts'
import { writeReasoning } from '../responses-reasoning.ts'
import { echoDefaults, IN_PROGRESS_OUTCOME, STATELESS_FIELDS } from '../responses-stream-state.ts'
import type {
  WireCall,
  WireClientCall,
  WireCompaction,
  WireContent,
  WireItemStatus,
  WireLogprob,
  WireMessage,
  WireOutcome,
  WireOutputItem,
} from '../responses-wire.ts'
import { getClientName } from './responses-client-tools.ts'

/** Writes a complete response for a client. */
export function writeResponse({ choices, usage, serviceTier }: CanonicalResponse, context: WriterContext): JsonObject {
  const [{ content, finish } = { content: [], finish: { reason: 'stop' as const } }] = choices
  const outcome = writeOutcome(finish, usage, context)
  const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
  const responseHead = writeResponseHead(context)
  const output = writeOutput(moveStateToReasoning(content), status, context)
  if (context.request.client?.isKept) for (const item of output) context.storeItem?.(item.id, JSON.stringify(item))
  const response = { ...responseHead, ...outcome, output }
  return serviceTier === undefined ? response : { ...response, service_tier: serviceTier }
}

/** Writes the response fields that don't depend on the outcome: the ID, the model, and the fields that echo the request. */
export function writeResponseHead(context: WriterContext) {
  return {
    id: `resp_${context.newId()}`,
    object: 'response' as const,
    created_at: context.nowSeconds,
    model: context.model,
    ...STATELESS_FIELDS,
    ...writeEcho(context.request),
  }
}

/** Writes the response fields that describe the outcome, with an empty output. */
export function writeOutcome(
  finish: Finish,
  usage: TokenUsage | undefined,
  { nowSeconds, request, responseWarnings }: WriterContext,
): WireOutcome {
  const { status, incomplete_details } = wireEndings[finish.reason]
  if (status !== 'failed') warnAboutFinish(finish, request, responseWarnings)
  warnAboutPause(finish, responseWarnings)
  return {
    ...IN_PROGRESS_OUTCOME,
    status,
    incomplete_details,
    completed_at: status === 'completed' ? nowSeconds : null,
    error: status === 'failed' ? { code: 'server_error', message: finish.explanation ?? MALFORMED_CALL_MESSAGE } : null,
    usage: usage ? writeUsage(usage) : null,
  }
}

const MALFORMED_CALL_MESSAGE = 'The model made a malformed tool call.'

/** Returns the request fields that the response echoes. */
export function getEchoedFields(body: JsonObject): JsonObject {
  const echo: JsonObject = {}
  for (const name in echoDefaults) if (body[name] !== undefined && body[name] !== null) echo[name] = body[name]
  return echo
}

/** Writes the fields that echo the request, including unset ones, because clients expect all of them. */
function writeEcho({ client }: CanonicalRequest) {
  const echo = isObject(client?.echo) ? client.echo : {}
  return {
    ...echoDefaults,
    ...echo,
    reasoning: { ...echoDefaults.reasoning, ...(isObject(echo.reasoning) && echo.reasoning) },
    text: { ...echoDefaults.text, ...(isObject(echo.text) && omitNull(echo.text)) },
    tools: Array.isArray(echo.tools) ? echo.tools.map(addMissingFields) : [],
  }
}

/** Sets the missing fields of an echoed function to null. */
function addMissingFields(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  }
}

function omitNull(object: JsonObject): JsonObject {
  const presentFields: JsonObject = {}
  for (const name in object) if (object[name] !== null) presentFields[name] = object[name]
  return presentFields
}

/** Writes a response's items. Consecutive text parts with the same phase become one message. The last item has the response's status. */
function writeOutput(
  content: readonly AssistantPart[],
  status: WireItemStatus,
  context: WriterContext,
): WireOutputItem[] {
  const items: WireOutputItem[] = []
  for (const part of content.flatMap((part) => replaceAudioWithText(part, context.responseWarnings))) {
    const lastItem = items.at(-1)
    if (part.type !== 'text' && part.type !== 'refusal') items.push(...writeItem(part, context))
    else if (lastItem?.type === 'message' && lastItem.phase === getPhase(part))
      lastItem.content.push(writeContent(part, context.responseWarnings))
    else
      items.push(writeMessage(`msg_${context.newId()}`, [writeContent(part, context.responseWarnings)], getPhase(part)))
  }
  const lastItem = items.at(-1)
  if (lastItem) setStatus(lastItem, status)
  return items
}

type WritablePart = Exclude<AssistantPart, { type: 'audio' }>

/** Replaces audio with its transcript, and omits empty strings. */
function replaceAudioWithText(part: AssistantPart, responseWarnings: ResponseWarnings): WritablePart[] {
  if (part.type === 'audio') responseWarnings.recordDrop('audio')
  const writablePart: WritablePart | undefined =
    part.type === 'audio' ? { type: 'text', text: part.transcript ?? '' } : part
  const isEmpty = (writablePart.type === 'text' || writablePart.type === 'refusal') && writablePart.text === ''
  return isEmpty ? [] : [writablePart]
}

function writeItem(part: Exclude<WritablePart, TextPart | RefusalPart>, context: WriterContext): WireOutputItem[] {
  switch (part.type) {
    case 'reasoning':
      return part.text || part.state ? [writeReasoning(`rs_${context.newId()}`, part.text, part.state)] : []
    case 'tool-call':
      return [writeClientCall(part, part.arguments, context) ?? writeCall(part, part.arguments, context)]
    case 'server-tool':
      return [writeSearch(part, context)]
    case 'compaction':
      return [writeCompactionItem(`cmp_${context.newId()}`, part.text)]
    case 'image':
      return writeImage(part, context)
    default:
      return assertNever(part)
  }
}

export function writeMessage(id: string, content: WireContent[], phase: TextPart['phase']): WireMessage {
  const message: WireMessage = { type: 'message', id, status: 'completed', role: 'assistant', content }
  if (phase) message.phase = phase
  return message
}

/** Writes a text part or refusal as a message part. */
export function writeContent(part: TextPart | RefusalPart, responseWarnings: ResponseWarnings): WireContent {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const citations = part.citations ?? []
  const annotations = citations.flatMap((citation) => writeAnnotation(citation, text.length) ?? [])
  if (annotations.length < citations.length) responseWarnings.recordDrop('citations')
  return { type: 'output_text', text, annotations, logprobs: writeLogprobs(part.logprobs ?? []) }
}

/** Returns the tool's type if the client declared a tool under this name that has its own item type. */
export const getClientToolKind = ({ request: { client } }: WriterContext, name: string): ClientToolKind | undefined =>
  isClientTool(name) && Array.isArray(client?.ownTools) && client.ownTools.includes(name) ? name : undefined

/** Writes a call to a tool with its own item type. Returns `undefined` for other tools, or if the arguments don't fit the tool. */
export function writeClientCall(
  { id, name }: ToolCallPart,
  input: string,
  context: WriterContext,
): WireClientCall | undefined {
  const kind = getClientToolKind(context, name)
  const call = kind && createClientCall(kind, input)
  return call && { ...call, id: `${ID_PREFIX[call.type]}_${context.newId()}`, call_id: id, status: 'completed' }
}

const ID_PREFIX = { shell_call: 'sh', local_shell_call: 'lsh', apply_patch_call: 'apc' } as const

/** Writes a call to a function or custom tool. A function's missing arguments become `{}`. */
export function writeCall({ id, name, isFreeForm }: ToolCallPart, input: string, context: WriterContext): WireCall {
  const names = getClientName(context.request, name)
  if (isFreeForm) return { type: 'custom_tool_call', id: `ctc_${context.newId()}`, call_id: id, ...names, input }
  return {
    ...{ type: 'function_call', id: `fc_${context.newId()}`, call_id: id, ...names },
    ...{ arguments: input || '{}', status: 'completed' },
  }
}

/** Writes a web search. */
export function writeSearch({ query, error, results }: ServerToolPart, { newId }: WriterContext): WireOutputItem {
  const sources = results.map(({ url }) => ({ type: 'url' as const, url }))
  const action = { type: 'search' as const, query, sources }
  return { type: 'web_search_call', id: `ws_${newId()}`, status: error === undefined ? 'completed' : 'failed', action }
}

/** Writes a model-generated image. The format only supports base64. */
export function writeImage({ source }: ImagePart, { newId, responseWarnings }: WriterContext): WireOutputItem[] {
  if (source.type === 'base64')
    return [{ type: 'image_generation_call', id: `ig_${newId()}`, status: 'completed', result: source.data }]
  responseWarnings.recordDrop('image')
  return []
}

/** Sets an item's status if its type has one that shows whether the item is complete. */
export function setStatus(item: WireOutputItem, status: WireItemStatus) {
  if (item.type === 'message' || item.type === 'function_call') item.status = status
  else if (item.type === 'shell_call' || item.type === 'local_shell_call') item.status = status
}

/** Writes tokens with their log probabilities. Unknown bytes become an empty list, because clients expect a list. */
export const writeLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => writeTokenLogprobs(tokens, [])

/** Writes a summary, which the client sends back in place of the conversation. */
export const writeCompactionItem = (id: string, summary: string): WireCompaction => ({
  type: 'compaction',
  id,
  encrypted_content: sealSummary(summary),
})

/** Writes a token count for a client. */
export const writeCount = (tokens: number): JsonObject => ({ object: 'response.input_tokens', input_tokens: tokens })
