import type { Losses } from '../canonical/losses.ts'
import type {
  AssistantPart,
  ImagePart,
  RefusalPart,
  ServerToolPart,
  TextPart,
  ToolCallPart,
} from '../canonical/parts.ts'
import type { WriteContext } from '../translator.ts'
import { wireAnnotation } from './annotations.ts'
import { type ClientToolKind, clientItem, isClientTool } from './client-tools.ts'
import { wireCompaction } from './compaction.ts'
import { wireLogprobs } from './logprobs.ts'
import { clientName } from './namespaces.ts'
import { wireThought } from './reasoning.ts'
import type { WireCall, WireClientCall, WireContent, WireItemStatus, WireMessage, WireOutputItem } from './wire.ts'

/** The items of an answer. Texts that follow each other are one message. The last item is cut when the answer is. */
export function writeOutput(
  content: readonly AssistantPart[],
  status: WireItemStatus,
  context: WriteContext,
): WireOutputItem[] {
  const items: WireOutputItem[] = []
  for (const part of content.flatMap((part) => inWords(part, context.losses))) {
    const last = items.at(-1)
    if (part.type !== 'text' && part.type !== 'refusal') items.push(...writeItem(part, context))
    else if (last?.type === 'message' && last.phase === phaseOf(part))
      last.content.push(wireContent(part, context.losses))
    else items.push(wireMessage(`msg_${context.newId()}`, [wireContent(part, context.losses)], phaseOf(part)))
  }
  const last = items.at(-1)
  if (last) setStatus(last, status)
  return items
}

type Written = Exclude<AssistantPart, { type: 'audio' }>

/** There is no sound here, but there are its words. What is empty is left out. */
function inWords(part: AssistantPart, losses: Losses): Written[] {
  if (part.type === 'audio') losses.dropped('audio')
  const written: Written | undefined = part.type === 'audio' ? { type: 'text', text: part.transcript ?? '' } : part
  const isEmpty = (written.type === 'text' || written.type === 'refusal') && written.text === ''
  return isEmpty ? [] : [written]
}

function writeItem(part: Exclude<Written, TextPart | RefusalPart>, context: WriteContext): WireOutputItem[] {
  switch (part.type) {
    case 'reasoning':
      return part.text || part.state ? [wireThought(`rs_${context.newId()}`, part.text, part.state)] : []
    case 'tool-call':
      return [wireOwnCall(part, part.arguments, context) ?? wireCall(part, part.arguments, context)]
    case 'server-tool':
      return [wireSearch(part, context)]
    case 'compaction':
      return [wireCompaction(`cmp_${context.newId()}`, part.text)]
    case 'image':
      return wireImage(part, context)
  }
}

/** The phase of a text: a comment on the way, or the answer. Refusals have none. */
export const phaseOf = (part: TextPart | RefusalPart | undefined) => (part?.type === 'text' ? part.phase : undefined)

export function wireMessage(id: string, content: WireContent[], phase: TextPart['phase']): WireMessage {
  const message: WireMessage = { type: 'message', id, status: 'completed', role: 'assistant', content }
  if (phase) message.phase = phase
  return message
}

export function wireContent(part: TextPart | RefusalPart, losses: Losses): WireContent {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const citations = part.citations ?? []
  const annotations = citations.flatMap((citation) => wireAnnotation(citation, text.length) ?? [])
  if (annotations.length < citations.length) losses.dropped('citations')
  return { type: 'output_text', text, annotations, logprobs: wireLogprobs(part.logprobs ?? []) }
}

/** Does the client know the calls of this name as items of their own? */
export const ownToolOf = ({ request: { client } }: WriteContext, name: string): ClientToolKind | undefined =>
  isClientTool(name) && Array.isArray(client?.ownTools) && client.ownTools.includes(name) ? name : undefined

/** The call of a tool that the client knows as an item of its own; undefined of any other, or when its arguments cannot be read. */
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

/** Arguments are JSON, also where there are none. */
export function wireCall({ id, name, isFreeForm }: ToolCallPart, input: string, context: WriteContext): WireCall {
  const names = clientName(context.request, name)
  if (isFreeForm) return { type: 'custom_tool_call', id: `ctc_${context.newId()}`, call_id: id, ...names, input }
  return {
    ...{ type: 'function_call', id: `fc_${context.newId()}`, call_id: id, ...names },
    ...{ arguments: input || '{}', status: 'completed' },
  }
}

export function wireSearch({ query, error, results }: ServerToolPart, { newId }: WriteContext): WireOutputItem {
  const sources = results.map(({ url }) => ({ type: 'url' as const, url }))
  const action = { type: 'search' as const, query, sources }
  return { type: 'web_search_call', id: `ws_${newId()}`, status: error === undefined ? 'completed' : 'failed', action }
}

/** A picture is told by its bytes only. */
export function wireImage({ source }: ImagePart, { newId, losses }: WriteContext): WireOutputItem[] {
  if (source.type === 'base64')
    return [{ type: 'image_generation_call', id: `ig_${newId()}`, status: 'completed', result: source.data }]
  losses.dropped('image')
  return []
}

/** Says of an item whether it is complete; of the others nobody would ask. */
export function setStatus(item: WireOutputItem, status: WireItemStatus) {
  if (item.type === 'message' || item.type === 'function_call') item.status = status
  else if (item.type === 'shell_call' || item.type === 'local_shell_call') item.status = status
}
