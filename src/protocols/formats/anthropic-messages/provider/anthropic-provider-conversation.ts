import { assertNever } from '../../../../lib/assert-never.ts'
import { parseRequestArguments } from '../../canonical/canonical-arguments.ts'
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  ReasoningPart,
  TextPart,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { CONTINUE_TEXT, dropLabels, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { TargetContext } from '../../translator.ts'
import { writeCitationParam } from '../anthropic-citations.ts'
import { writeBreakpoint } from '../anthropic-fields.ts'
import type {
  WireAssistantBlock,
  WireDocumentSource,
  WireImageSource,
  WireMessageParam,
  WireTextParam,
  WireToolResult,
  WireUserBlock,
} from '../anthropic-wire.ts'

/**
 * Writes `system` and `messages`. The instructions before the first turn become `system` blocks. Consecutive turns with the same role become one
 * message, with tool results before the user's content.
 */
export function writeTurns(turns: readonly Turn[], target: TargetContext) {
  const firstTurnIndex = turns.findIndex((turn) => turn.role !== 'system')
  const messagesStart = firstTurnIndex === -1 ? turns.length : firstTurnIndex
  for (const turn of turns)
    dropLabels(turn, target.warnings, { citations: (citation) => writeCitationParam(citation) !== undefined })
  const system = turns
    .slice(0, messagesStart)
    .flatMap((turn) => (turn.role === 'system' ? writeTexts(turn.content, target) : []))
  const messages = mergeMessages(turns.slice(messagesStart).map((turn) => writeTurn(turn, target)))
  if (messages[0]?.role !== 'user') {
    target.warnings.recordChange('turns', 'added')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: CONTINUE_TEXT }] })
  }
  return { system, messages: trimLastText(messages) }
}

function writeTurn(turn: Turn, target: TargetContext): WireMessageParam {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: writeTexts(turn.content, target) }
    case 'user':
      return { role: 'user', content: turn.content.flatMap((part) => writePart(part, target)) }
    case 'assistant':
      return { role: 'assistant', content: turn.content.flatMap((part) => writeAssistantPart(part, target)) }
    case 'tool':
      return { role: 'user', content: turn.results.map((result) => writeResult(result, target)) }
    default:
      return assertNever(turn)
  }
}

const writeTexts = (parts: Parameters<typeof writeText>[0][], target: TargetContext): WireTextParam[] =>
  parts.flatMap((part) => writeText(part, target))

function mergeMessages(messages: readonly WireMessageParam[]): WireMessageParam[] {
  const mergedMessages: WireMessageParam[] = []
  for (const message of messages) {
    const lastMessage = mergedMessages.at(-1)
    if (message.content.length === 0) continue
    if (lastMessage?.role === 'user' && message.role === 'user') lastMessage.content.push(...message.content)
    else if (lastMessage?.role === 'assistant' && message.role === 'assistant')
      lastMessage.content.push(...message.content)
    else mergedMessages.push(message)
  }
  return mergedMessages
}

/** Trims the end of a response that the model continues, because Anthropic rejects trailing white space there. */
function trimLastText(messages: WireMessageParam[]): WireMessageParam[] {
  const lastMessage = messages.at(-1)
  const block = lastMessage?.role === 'assistant' ? lastMessage.content.at(-1) : undefined
  if (block?.type === 'text') block.text = block.text.trimEnd()
  return messages
}

/** Writes a part of a user turn or tool result. Omits blank text, because Anthropic rejects it. */
function writePart(part: UserPart, target: TargetContext): WireUserBlock[] {
  const { warnings } = target
  const breakpoint = writeBreakpoint(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return writeText(part, target)
    case 'image':
      if (part.detail && part.detail !== 'auto') warnings.recordDrop(warnings.getPath(part, 'image', 'detail'))
      return [{ type: 'image', source: writeImageSource(part, target), ...breakpoint }]
    case 'file': {
      const { name: title, context, citable } = part
      const source = writeDocumentSource(part, target)
      return [
        { type: 'document', source, ...omitUndefined({ title, context }), ...writeCitable(citable), ...breakpoint },
      ]
    }
    case 'search-result': {
      const { source, title, citable } = part
      const content = part.content.flatMap((text) => writeText(text, target))
      return [{ type: 'search_result', source, title, content, ...writeCitable(citable), ...breakpoint }]
    }
    case 'audio':
    case 'video':
      return warnings.reject(warnings.getPath(part, part.type), `the target does not support ${part.type}.`)
    default:
      return assertNever(part)
  }
}

function writeText({ text, cache }: TextPart, target: TargetContext): WireTextParam[] {
  return isBlank(text) ? [] : [{ type: 'text', text, ...writeBreakpoint(cache, target) }]
}

function writeResult({ callId, content, isError, cache }: ToolResult, target: TargetContext): WireToolResult {
  const blocks = content.flatMap((part) => writePart(part, target))
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(blocks.length > 0 && { content: blocks }),
    ...(isError && { is_error: true }),
    ...writeBreakpoint(cache, target),
  }
}

export const isBlank = (text: string): boolean => text.trim() === ''

const writeCitable = (citable: boolean | undefined) => (citable ? { citations: { enabled: true } as const } : {})

function writeAssistantPart(part: AssistantPart, target: TargetContext): WireAssistantBlock[] {
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
      const input = isFreeForm ? { input: part.arguments } : parseRequestArguments(part, warnings)
      return [{ type: 'tool_use', id, name, input, ...writeBreakpoint(cache, target) }]
    }
    case 'server-tool': // `prepareRequest` has converted it to text, because a block needs the encrypted content of the original response
      return []
    case 'audio':
      if (part.transcript === undefined) warnings.recordDrop(warnings.getPath(part, 'audio'))
      return writeAssistantText({ type: 'text', text: part.transcript ?? '' }, target)
    case 'image': // `prepareRequest` has moved it to a user turn
      return []
    case 'compaction': // `prepareRequest` has rejected it
      return []
    default:
      return assertNever(part)
  }
}

function writeAssistantText({ text, cache, citations }: TextPart, target: TargetContext): WireAssistantBlock[] {
  if (isBlank(text)) return []
  const writtenCitations = citations?.flatMap((citation) => writeCitationParam(citation) ?? []) ?? []
  return [
    {
      type: 'text',
      text,
      ...(writtenCitations.length > 0 && { citations: writtenCitations }),
      ...writeBreakpoint(cache, target),
    },
  ]
}

/** Writes reasoning that Anthropic signed. Anthropic doesn't accept any other. */
function writeReasoning({ text, state }: ReasoningPart): WireAssistantBlock[] {
  if (state?.kind === 'signature') return [{ type: 'thinking', thinking: text, signature: state.data }]
  return state?.kind === 'redacted' ? [{ type: 'redacted_thinking', data: state.data }] : []
}

function writeImageSource(part: ImagePart, { warnings }: TargetContext): WireImageSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  const media_type = source.type === 'base64' ? IMAGE_MEDIA_TYPES.find((type) => type === source.mediaType) : undefined
  if (source.type === 'base64' && media_type) return { type: 'base64', media_type, data: source.data }
  return warnings.reject(
    warnings.getPath(part, 'image'),
    `the target only supports images of type ${IMAGE_MEDIA_TYPES.join(', ')}.`,
  )
}

const IMAGE_MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

/** Writes a document's source: a PDF, or text of any kind. */
function writeDocumentSource(part: FilePart, { warnings }: TargetContext): WireDocumentSource {
  const { source } = part
  if (source.type === 'url') return { type: 'url', url: source.url }
  if (source.type === 'file-id') return { type: 'file', file_id: source.id }
  if (source.type === 'text') return { type: 'text', media_type: 'text/plain', data: source.text }
  const { mediaType, data } = source
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data }
  const text = TEXT_MEDIA_TYPE_PATTERN.test(mediaType) ? decodeText(data) : undefined
  if (text !== undefined) return { type: 'text', media_type: 'text/plain', data: text }
  return warnings.reject(
    warnings.getPath(part, 'file'),
    `the target does not support files of type ${mediaType}. Send it as PDF or text.`,
  )
}

const TEXT_MEDIA_TYPE_PATTERN = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|sql)\b|\+(?:json|xml)$/

function decodeText(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined // the data is neither base64 nor UTF-8
  }
}
