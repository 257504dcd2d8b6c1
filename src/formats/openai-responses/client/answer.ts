import { assertNever } from '../../../lib/assert-never.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { type Answer, type Finish, type TokenUsage, warnOfLostEnd } from '../../canonical/answer.ts'
import type {
  AssistantPart,
  ImagePart,
  RefusalPart,
  ServerToolPart,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/parts.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { sealSummary } from '../../canonical/state.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import { wireTokens } from '../../openai-fields.ts'
import type { WriteContext } from '../../translator.ts'
import { type ClientToolKind, clientItem, isClientTool } from '../client-tools.ts'
import { phaseOf, wireAnnotation, wireEnding, wireUsage } from '../fields.ts'
import { wireReasoning } from '../reasoning.ts'
import { echoDefaults, inProgress, stateless } from '../stream-state.ts'
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
} from '../wire.ts'
import { clientName } from './tools.ts'

/** Writes a whole answer for a client. */
export function writeAnswer({ choices, usage, serviceTier }: Answer, context: WriteContext): JsonObject {
  const [{ content, finish } = { content: [], finish: { reason: 'stop' as const } }] = choices
  const outcome = outcomeOf(finish, usage, context)
  const status = outcome.status === 'completed' ? 'completed' : 'incomplete'
  const head = responseHead(context)
  const output = writeOutput(moveStateToReasoning(content), status, context)
  if (context.request.client?.isKept) for (const item of output) context.keepItem?.(item.id, JSON.stringify(item))
  const answer = { ...head, ...outcome, output }
  return serviceTier === undefined ? answer : { ...answer, service_tier: serviceTier }
}

/** The fields of a response that do not depend on its outcome: its id, its model, and what it repeats of the request. */
export function responseHead(context: WriteContext) {
  return {
    id: `resp_${context.newId()}`,
    object: 'response' as const,
    created_at: context.now,
    model: context.model,
    ...stateless,
    ...echoOf(context.request),
  }
}

/** The fields of a response that hold its outcome, without the output. */
export function outcomeOf(
  finish: Finish,
  usage: TokenUsage | undefined,
  { now, request, responseWarnings }: WriteContext,
): WireOutcome {
  const { status, incomplete_details } = wireEnding(finish.reason)
  if (status !== 'failed') warnOfLostEnd(finish, request, responseWarnings)
  return {
    ...inProgress,
    status,
    incomplete_details,
    completed_at: status === 'completed' ? now : null,
    error: status === 'failed' ? { code: 'server_error', message: finish.explanation ?? MALFORMED } : null,
    usage: usage ? wireUsage(usage) : null,
  }
}

const MALFORMED = 'The model made a tool call that cannot be read.'

/** The fields of a request that its response repeats. */
export function echoedFields(body: JsonObject): JsonObject {
  const echo: JsonObject = {}
  for (const name in echoDefaults) if (body[name] !== undefined && body[name] !== null) echo[name] = body[name]
  return echo
}

/** What a response repeats of its request: all fields, since clients expect each of them. */
function echoOf({ client }: CanonicalRequest) {
  const echo = isObject(client?.echo) ? client.echo : {}
  return {
    ...echoDefaults,
    ...echo,
    reasoning: { ...echoDefaults.reasoning, ...(isObject(echo.reasoning) && echo.reasoning) },
    text: { ...echoDefaults.text, ...(isObject(echo.text) && withoutNull(echo.text)) },
    tools: Array.isArray(echo.tools) ? echo.tools.map(withAllFields) : [],
  }
}

/** A repeated function with all of its fields; those that are not set are null. */
function withAllFields(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  }
}

function withoutNull(object: JsonObject): JsonObject {
  const others: JsonObject = {}
  for (const name in object) if (object[name] !== null) others[name] = object[name]
  return others
}

/** Writes the items of an answer. Consecutive texts of one phase are one message. The last item has the status of the answer. */
function writeOutput(
  content: readonly AssistantPart[],
  status: WireItemStatus,
  context: WriteContext,
): WireOutputItem[] {
  const items: WireOutputItem[] = []
  for (const part of content.flatMap((part) => writtenParts(part, context.responseWarnings))) {
    const last = items.at(-1)
    if (part.type !== 'text' && part.type !== 'refusal') items.push(...writeItem(part, context))
    else if (last?.type === 'message' && last.phase === phaseOf(part))
      last.content.push(wireContent(part, context.responseWarnings))
    else items.push(wireMessage(`msg_${context.newId()}`, [wireContent(part, context.responseWarnings)], phaseOf(part)))
  }
  const last = items.at(-1)
  if (last) setStatus(last, status)
  return items
}

type WrittenPart = Exclude<AssistantPart, { type: 'audio' }>

/** Replaces audio by its transcript, and leaves out empty texts. */
function writtenParts(part: AssistantPart, responseWarnings: ResponseWarnings): WrittenPart[] {
  if (part.type === 'audio') responseWarnings.noteDropped('audio')
  const written: WrittenPart | undefined = part.type === 'audio' ? { type: 'text', text: part.transcript ?? '' } : part
  const isEmpty = (written.type === 'text' || written.type === 'refusal') && written.text === ''
  return isEmpty ? [] : [written]
}

function writeItem(part: Exclude<WrittenPart, TextPart | RefusalPart>, context: WriteContext): WireOutputItem[] {
  switch (part.type) {
    case 'reasoning':
      return part.text || part.state ? [wireReasoning(`rs_${context.newId()}`, part.text, part.state)] : []
    case 'tool-call':
      return [wireOwnCall(part, part.arguments, context) ?? wireCall(part, part.arguments, context)]
    case 'server-tool':
      return [wireSearch(part, context)]
    case 'compaction':
      return [wireCompaction(`cmp_${context.newId()}`, part.text)]
    case 'image':
      return wireImage(part, context)
    default:
      return assertNever(part)
  }
}

/** Writes a message. */
export function wireMessage(id: string, content: WireContent[], phase: TextPart['phase']): WireMessage {
  const message: WireMessage = { type: 'message', id, status: 'completed', role: 'assistant', content }
  if (phase) message.phase = phase
  return message
}

/** Writes a text or a refusal as a part of a message. */
export function wireContent(part: TextPart | RefusalPart, responseWarnings: ResponseWarnings): WireContent {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const citations = part.citations ?? []
  const annotations = citations.flatMap((citation) => wireAnnotation(citation, text.length) ?? [])
  if (annotations.length < citations.length) responseWarnings.noteDropped('citations')
  return { type: 'output_text', text, annotations, logprobs: wireLogprobs(part.logprobs ?? []) }
}

/** The kind of tool, if the client has declared one under this name whose calls are items of their own. */
export const ownToolOf = ({ request: { client } }: WriteContext, name: string): ClientToolKind | undefined =>
  isClientTool(name) && Array.isArray(client?.ownTools) && client.ownTools.includes(name) ? name : undefined

/** Writes the call of a tool whose calls are items of their own; undefined for other tools, and if the arguments do not fit the tool. */
export function wireOwnCall(
  { id, name }: ToolCallPart,
  input: string,
  context: WriteContext,
): WireClientCall | undefined {
  const kind = ownToolOf(context, name)
  const call = kind && clientItem(kind, input)
  return call && { ...call, id: `${ID_PREFIX[call.type]}_${context.newId()}`, call_id: id, status: 'completed' }
}

const ID_PREFIX = { shell_call: 'sh', local_shell_call: 'lsh', apply_patch_call: 'apc' } as const

/** Writes the call of a function or a custom tool. Missing arguments of a function become `{}`. */
export function wireCall({ id, name, isFreeForm }: ToolCallPart, input: string, context: WriteContext): WireCall {
  const names = clientName(context.request, name)
  if (isFreeForm) return { type: 'custom_tool_call', id: `ctc_${context.newId()}`, call_id: id, ...names, input }
  return {
    ...{ type: 'function_call', id: `fc_${context.newId()}`, call_id: id, ...names },
    ...{ arguments: input || '{}', status: 'completed' },
  }
}

/** Writes a web search. */
export function wireSearch({ query, error, results }: ServerToolPart, { newId }: WriteContext): WireOutputItem {
  const sources = results.map(({ url }) => ({ type: 'url' as const, url }))
  const action = { type: 'search' as const, query, sources }
  return { type: 'web_search_call', id: `ws_${newId()}`, status: error === undefined ? 'completed' : 'failed', action }
}

/** Writes an image that the model has generated, which the format has as bytes only. */
export function wireImage({ source }: ImagePart, { newId, responseWarnings }: WriteContext): WireOutputItem[] {
  if (source.type === 'base64')
    return [{ type: 'image_generation_call', id: `ig_${newId()}`, status: 'completed', result: source.data }]
  responseWarnings.noteDropped('image')
  return []
}

/** Sets the status of an item, if items of its type have one that says whether they are complete. */
export function setStatus(item: WireOutputItem, status: WireItemStatus) {
  if (item.type === 'message' || item.type === 'function_call') item.status = status
  else if (item.type === 'shell_call' || item.type === 'local_shell_call') item.status = status
}

/** Writes tokens with their probabilities; bytes that are not known are an empty list, since clients expect one. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => wireTokens(tokens, [])

/** Writes a summary, which the client sends back in place of the conversation. */
export const wireCompaction = (id: string, summary: string): WireCompaction => ({
  type: 'compaction',
  id,
  encrypted_content: sealSummary(summary),
})

/** Writes a count of tokens for a client. */
export const writeCount = (tokens: number): JsonObject => ({ object: 'response.input_tokens', input_tokens: tokens })
