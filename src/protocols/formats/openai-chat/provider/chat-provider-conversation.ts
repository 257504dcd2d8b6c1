import { assertNever } from '../../../../lib/assert-never.ts'
import { isObject, type JsonObject, tryParseShallow } from '../../../../lib/json.ts'
import { type MediaSource, toDataUrl } from '../../canonical/canonical-media.ts'
import type {
  AssistantPart,
  CacheBreakpoint,
  FilePart,
  ImagePart,
  ReasoningPart,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { type AssistantTurn, dropLabels, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import { getOpenAIFileId, toFileName, writeExplicitBreakpoint, writeInputAudio } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import { joinTexts, writeCall } from '../chat-fields.ts'
import type {
  WireAssistantMessage,
  WireBreakpoints,
  WireImage,
  WireMessage,
  WireSystemMessage,
  WireTextPart,
  WireUserPart,
} from '../chat-wire.ts'

/** Writes `messages`. Instructions that a client sent in a separate field become one message. */
export function writeTurns(turns: readonly Turn[], target: TargetContext): WireMessage[] {
  for (const turn of turns) dropLabels(turn, target.warnings, { names: true })
  return joinInstructions(turns).flatMap((turn) => writeTurn(turn, target))
}

function writeTurn(turn: Turn, target: TargetContext): WireMessage[] {
  switch (turn.role) {
    case 'system':
      return [
        omitUndefined<WireSystemMessage>({
          role: turn.sentAs === 'developer' ? 'developer' : 'system',
          content: writeTexts(turn.content, target, '\n\n'),
          name: turn.name,
        }),
      ]
    case 'user':
      return [omitUndefined({ role: turn.role, content: writeContent(turn.content, target), name: turn.name })]
    case 'assistant':
      return [writeAssistant(turn, target)].filter(isNotEmpty)
    case 'tool':
      return turn.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.callId,
        content: writeResult(result, target),
      }))
    default:
      return assertNever(turn)
  }
}

/** Returns whether a message has content. A response that consisted only of an image leaves an empty message, which providers reject. */
const isNotEmpty = ({ role, name, content, ...rest }: WireAssistantMessage): boolean =>
  content !== null || Object.keys(rest).length > 0

/** Writes a tool result. The format can't mark errors, so error text begins with `Error: `. */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext) {
  const lastIndex = content.findLastIndex((part) => part.type !== 'video' && !isBlankText(part))
  const part = content[lastIndex]
  const canHaveBreakpoint = cache && part && part.type !== 'video'
  if (cache && !canHaveBreakpoint) target.warnings.recordDrop(target.warnings.getPath(cache, 'cache'))
  const markedContent = canHaveBreakpoint ? content.with(lastIndex, { ...part, cache }) : content
  const output = writeTexts(markedContent, target, '\n')
  if (!isError) return output
  return typeof output === 'string' ? `Error: ${output}` : [{ type: 'text' as const, text: 'Error: ' }, ...output]
}

const isBlankText = (part: UserPart) => part.type === 'text' && part.text.trim() === ''

function joinInstructions(turns: readonly Turn[]): Turn[] {
  const joinedTurns: Turn[] = []
  for (const turn of turns) {
    const lastTurn = joinedTurns.at(-1)
    const isContinuation =
      turn.role === 'system' &&
      lastTurn?.role === 'system' &&
      turn.sentAs === 'instructions' &&
      lastTurn.sentAs === 'instructions'
    if (isContinuation) joinedTurns.splice(-1, 1, { ...lastTurn, content: [...lastTurn.content, ...turn.content] })
    else joinedTurns.push(turn)
  }
  return joinedTurns
}

/** Writes an assistant turn. Content without text is null, because strict providers reject an empty string. */
function writeAssistant({ content, name }: AssistantTurn, target: TargetContext): WireAssistantMessage {
  const text = joinTexts(separateParagraphs(content), 'text')
  const calls = content.filter((part) => part.type === 'tool-call')
  const reasoning = content.filter((part) => part.type === 'reasoning')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? [writeImage(part, target)] : []))
  warnAboutDroppedFields(content, target.warnings)
  return omitUndefined<WireAssistantMessage>({
    role: 'assistant',
    content: addThinking(text, reasoning, target),
    refusal: joinTexts(content, 'refusal') || undefined,
    name,
    audio: audio?.id === undefined ? undefined : { id: audio.id },
    ...writeReasoning(reasoning, target),
    images: images.length > 0 ? images : undefined,
    tool_calls: calls.length > 0 ? calls.map(writeCall) : undefined,
  })
}

/** Writes a model-generated image. For vendors without a field for it, `prepareRequest` has moved it to a user turn. */
const writeImage = (part: ImagePart, target: TargetContext): WireImage => ({
  type: 'image_url',
  image_url: { url: getUrl(part, target) },
})

/** Warns about audio without an ID, and about cache breakpoints, which plain-string text can't have. */
function warnAboutDroppedFields(content: readonly AssistantPart[], warnings: Warnings) {
  for (const part of content) {
    if (part.type === 'audio' && part.id === undefined) warnings.recordDrop(warnings.getPath(part, 'turns'))
    if ('cache' in part && part.cache) warnings.recordDrop(warnings.getPath(part.cache, 'cache'))
  }
}

/**
 * Adds a blank line between text parts that a call separated, because the format has only one field for a turn's text. Text parts that already have
 * white space there stay unchanged.
 */
function separateParagraphs(content: readonly AssistantPart[]): readonly AssistantPart[] {
  let lastText: string | undefined
  let isAfterCall = false
  return content.map((part) => {
    if (part.type === 'tool-call') isAfterCall = lastText !== undefined
    if (part.type !== 'text' || part.text === '') return part
    const needsBreak = isAfterCall && lastText !== undefined && !/\s$/.test(lastText) && !/^\s/.test(part.text)
    lastText = part.text
    isAfterCall = false
    return needsBreak ? { ...part, text: `\n\n${part.text}` } : part
  })
}

/** Writes reasoning that the target itself produced, in the field where the target reads it. */
function writeReasoning(reasoning: readonly ReasoningPart[], { traits }: TargetContext) {
  const details = reasoning.flatMap((part): JsonObject[] => {
    const detail = readDetail(part)
    return detail ? [detail] : []
  })
  const text = reasoning.map((part) => (part.state?.kind === 'text' ? part.text : '')).join('')
  const { field, needsField } = traits.reasoning
  return {
    reasoning_details: details.length > 0 ? details : undefined,
    reasoning_content: (text !== '' || needsField) && field === 'reasoning_content' ? text : undefined,
    reasoning: text !== '' && (field === 'reasoning' || field === 'reasoning_details') ? text : undefined,
  }
}

/** Adds reasoning to the content for Mistral's models, which read it as a part. */
function addThinking(text: string, reasoning: readonly ReasoningPart[], { traits }: TargetContext) {
  const thinkingText = reasoning.map((part) => part.text).join('')
  if (traits.reasoning.field !== 'thinking-parts' || thinkingText === '') return text === '' ? null : text
  const thinking = { type: 'thinking' as const, thinking: [{ type: 'text' as const, text: thinkingText }] }
  return text === '' ? [thinking] : [thinking, { type: 'text' as const, text }]
}

function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireUserPart[] {
  const [firstPart] = parts
  if (!firstPart) return ''
  if (parts.length === 1 && firstPart.type === 'text' && !firstPart.cache) return firstPart.text
  return parts.flatMap((part) => writePart(part, target))
}

function writeTexts(parts: readonly UserPart[], target: TargetContext, separator: string): string | WireTextPart[] {
  const texts = parts.flatMap((part) => writePart(part, target)).filter((part) => part.type === 'text')
  const hasBreakpoint = texts.some((part) => part.cache_control ?? part.prompt_cache_breakpoint)
  return hasBreakpoint ? texts : texts.map((part) => part.text).join(separator)
}

function writePart(part: UserPart, target: TargetContext): WireUserPart[] {
  const breakpoint = writeBreakpoint(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...breakpoint }]
    case 'image':
      return [
        {
          type: 'image_url',
          image_url: omitUndefined({ url: getUrl(part, target), detail: part.detail }),
          ...breakpoint,
        },
      ]
    case 'file':
      return [{ ...writeFile(part, target), ...breakpoint }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: writeInputAudio(part, target), ...breakpoint }]
    case 'search-result':
      return part.content.map(({ text }, index) => ({
        type: 'text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...(index === part.content.length - 1 && breakpoint),
      }))
    case 'video': // only reached for vendors whose traits list video
      if (part.fps ?? part.startOffset ?? part.endOffset)
        target.warnings.recordDrop(target.warnings.getPath(part, 'turns', 'clip'))
      return [{ type: 'video_url', video_url: { url: getUrl(part, target) } }]
    default:
      return assertNever(part)
  }
}

function writeFile(part: FilePart, target: TargetContext): WireUserPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'text', text: source.text } // `prepareRequest` has converted documents to text
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.recordDrop(target.warnings.getPath(part, 'file', 'name')) // an uploaded file keeps its original name
    return { type: 'file', file: { file_id: getOpenAIFileId(source, part, target) } }
  }
  const filename = source.type === 'base64' ? toFileName(name, source.mediaType) : (name ?? 'file.pdf')
  return { type: 'file', file: { file_data: getUrl(part, target), filename } }
}

function getUrl(part: ImagePart | FilePart | { source: MediaSource }, { warnings }: TargetContext): string {
  const { source } = part
  if (source.type === 'base64') return toDataUrl(source)
  if (source.type === 'url') return source.url
  return warnings.reject(warnings.getPath(part, 'content'), 'the target does not accept file IDs here.')
}

/** Writes a cache breakpoint the way the target accepts it. */
export function writeBreakpoint(
  cache: CacheBreakpoint | undefined,
  { traits, warnings }: TargetContext,
): WireBreakpoints {
  if (!cache || traits.cacheBreakpoints === 'none') return {}
  if (traits.cacheBreakpoints === 'cache_control') return { cache_control: { type: 'ephemeral', ...cache } }
  return { prompt_cache_breakpoint: writeExplicitBreakpoint(cache, warnings) }
}

/**
 * Restores the entry of `reasoning_details` that `parseDetail` read. Its type determines whether it is text or a summary, which clients may mix up.
 */
function readDetail({ text, isSummary, state }: ReasoningPart): JsonObject | undefined {
  if (state?.kind !== 'detail') return undefined
  const detail = tryParseShallow(state.data)
  if (!isObject(detail)) return undefined
  if (text === '') return detail
  const hasSummary = detail.type === 'reasoning.summary' || (isSummary && detail.type !== 'reasoning.text')
  return { ...detail, [hasSummary ? 'summary' : 'text']: text }
}
