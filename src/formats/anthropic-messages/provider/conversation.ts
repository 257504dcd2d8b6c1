import { assertNever } from '../../../lib/assert-never.ts'
import { requestArguments } from '../../canonical/arguments.ts'
import type { AssistantPart, FilePart, ImagePart, ReasoningPart, TextPart, UserPart } from '../../canonical/parts.ts'
import { CONTINUE_TEXT, dropLabels, type ToolResult, type Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { TargetContext } from '../../translator.ts'
import { wireCitationParam } from '../citations.ts'
import { wireMark } from '../fields.ts'
import type {
  WireAssistantBlock,
  WireDocumentSource,
  WireImageSource,
  WireMessageParam,
  WireTextParam,
  WireToolResult,
  WireUserBlock,
} from '../wire.ts'

/**
 * Writes `system` and `messages`. The instructions before the first turn become the blocks of `system`. Consecutive turns of one role are one
 * message: tool results first, then the content of the user.
 */
export function writeTurns(turns: readonly Turn[], target: TargetContext) {
  const first = turns.findIndex((turn) => turn.role !== 'system')
  const lead = first === -1 ? turns.length : first
  for (const turn of turns)
    dropLabels(turn, target.warnings, { citations: (citation) => wireCitationParam(citation) !== undefined })
  const system = turns
    .slice(0, lead)
    .flatMap((turn) => (turn.role === 'system' ? writeTexts(turn.content, target) : []))
  const messages = merge(turns.slice(lead).map((turn) => writeTurn(turn, target)))
  if (messages[0]?.role !== 'user') {
    target.warnings.noteChanged('turns', 'added')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: CONTINUE_TEXT }] })
  }
  return { system, messages: withoutTrailingBlanks(messages) }
}

function writeTurn(turn: Turn, target: TargetContext): WireMessageParam {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: writeTexts(turn.content, target) }
    case 'user':
      return { role: 'user', content: turn.content.flatMap((part) => writePart(part, target)) }
    case 'assistant':
      return { role: 'assistant', content: turn.content.flatMap((part) => writeAssistant(part, target)) }
    case 'tool':
      return { role: 'user', content: turn.results.map((result) => writeResult(result, target)) }
    default:
      return assertNever(turn)
  }
}

const writeTexts = (parts: Parameters<typeof writeText>[0][], target: TargetContext): WireTextParam[] =>
  parts.flatMap((part) => writeText(part, target))

function merge(messages: readonly WireMessageParam[]): WireMessageParam[] {
  const merged: WireMessageParam[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    if (message.content.length === 0) continue
    if (last?.role === 'user' && message.role === 'user') last.content.push(...message.content)
    else if (last?.role === 'assistant' && message.role === 'assistant') last.content.push(...message.content)
    else merged.push(message)
  }
  return merged
}

/** Removes white space at the end of an answer that the model is to continue, which Anthropic refuses. */
function withoutTrailingBlanks(messages: WireMessageParam[]): WireMessageParam[] {
  const last = messages.at(-1)
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined
  if (block?.type === 'text') block.text = block.text.trimEnd()
  return messages
}

/** Writes a part of a user turn or a tool result. Text of only white space is left out, since Anthropic refuses it. */
function writePart(part: UserPart, target: TargetContext): WireUserBlock[] {
  const { warnings } = target
  const marks = wireMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return writeText(part, target)
    case 'image':
      if (part.detail && part.detail !== 'auto') warnings.noteDropped(warnings.pathOf(part, 'image', 'detail'))
      return [{ type: 'image', source: imageSource(part, target), ...marks }]
    case 'file': {
      const { name: title, context, citable } = part
      const source = documentSource(part, target)
      return [{ type: 'document', source, ...defined({ title, context }), ...wireCitable(citable), ...marks }]
    }
    case 'search-result': {
      const { source, title, citable } = part
      const content = part.content.flatMap((text) => writeText(text, target))
      return [{ type: 'search_result', source, title, content, ...wireCitable(citable), ...marks }]
    }
    case 'audio':
    case 'video':
      return warnings.refuse(warnings.pathOf(part, part.type), `the target takes no ${part.type}.`)
    default:
      return assertNever(part)
  }
}

function writeText({ text, cache }: TextPart, target: TargetContext): WireTextParam[] {
  return isBlank(text) ? [] : [{ type: 'text', text, ...wireMark(cache, target) }]
}

function writeResult({ callId, content, isError, cache }: ToolResult, target: TargetContext): WireToolResult {
  const blocks = content.flatMap((part) => writePart(part, target))
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
    ...wireMark(cache, target),
  }
}

export const isBlank = (text: string): boolean => text.trim() === ''

const wireCitable = (citable: boolean | undefined) => (citable ? { citations: { enabled: true } as const } : {})

/** Writes a part of an earlier answer; a part for which the format has no block is left out. */
function writeAssistant(part: AssistantPart, target: TargetContext): WireAssistantBlock[] {
  const { warnings } = target
  switch (part.type) {
    case 'text':
      return writeAssistantText(part, target)
    case 'refusal':
      return writeAssistantText({ type: 'text', text: part.text }, target)
    case 'reasoning':
      return writeReasoning(part)
    case 'tool-call': {
      const { id, name, cache, isFreeForm } = part
      const input = isFreeForm ? { input: part.arguments } : requestArguments(part, warnings)
      return [{ type: 'tool_use', id, name, input, ...wireMark(cache, target) }]
    }
    case 'server-tool': // `prepareRequest` has made it text: a block would need the encrypted content of its answer
      return []
    case 'audio':
      if (part.transcript === undefined) warnings.noteDropped(warnings.pathOf(part, 'audio'))
      return writeAssistantText({ type: 'text', text: part.transcript ?? '' }, target)
    case 'image': // `prepareRequest` has moved it to a user turn
      return []
    case 'compaction': // `prepareRequest` has refused it
      return []
    default:
      return assertNever(part)
  }
}

function writeAssistantText({ text, cache, citations }: TextPart, target: TargetContext): WireAssistantBlock[] {
  if (isBlank(text)) return []
  const cited = citations?.flatMap((citation) => wireCitationParam(citation) ?? []) ?? []
  return [{ type: 'text', text, ...(cited.length > 0 && { citations: cited }), ...wireMark(cache, target) }]
}

/** Writes reasoning that Anthropic has signed; it accepts no other. */
function writeReasoning({ text, state }: ReasoningPart): WireAssistantBlock[] {
  if (state?.kind === 'signature') return [{ type: 'thinking', thinking: text, signature: state.data }]
  return state?.kind === 'redacted' ? [{ type: 'redacted_thinking', data: state.data }] : []
}

/** Writes the source of an image. */
function imageSource(part: ImagePart, { warnings }: TargetContext): WireImageSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  const media_type = source.type === 'base64' ? IMAGES.find((type) => type === source.mediaType) : undefined
  if (source.type === 'base64' && media_type) return { type: 'base64', media_type, data: source.data }
  return warnings.refuse(warnings.pathOf(part, 'image'), `the target takes images of type ${IMAGES.join(', ')} only.`)
}

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** Writes the source of a document: a PDF, or text of any kind. */
function documentSource(part: FilePart, { warnings }: TargetContext): WireDocumentSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  if (source.type === 'text') return { type: 'text', media_type: 'text/plain', data: source.text }
  const { mediaType, data } = source
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data }
  const text = TEXT.test(mediaType) ? textOf(data) : undefined
  if (text !== undefined) return { type: 'text', media_type: 'text/plain', data: text }
  return warnings.refuse(
    warnings.pathOf(part, 'file'),
    `the target takes no file of type ${mediaType}. Send it as PDF or as text.`,
  )
}

const TEXT = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|sql)\b|\+(?:json|xml)$/

function textOf(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // neither base64 nor UTF-8
  }
}
