import { assertNever } from '../../../lib/assert-never.ts'
import { isObject, type JsonObject, tryParseShallow } from '../../../lib/json.ts'
import { dataUrl, type MediaSource } from '../../canonical/media.ts'
import type { AssistantPart, CacheMark, FilePart, ImagePart, ReasoningPart, UserPart } from '../../canonical/parts.ts'
import { type AssistantTurn, dropLabels, type SystemTurn, type ToolResult, type Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import { fileName, openaiFileId, wireInputAudio, writeBreakpoint } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import { textOf, writeCall } from '../fields.ts'
import type {
  WireAssistantMessage,
  WireImage,
  WireMarks,
  WireMessage,
  WireSystemMessage,
  WireTextPart,
  WireUserPart,
} from '../wire.ts'

/** Writes `messages`. Instructions that a client has sent in a field of their own become one message. */
export function writeTurns(turns: readonly Turn[], target: TargetContext): WireMessage[] {
  for (const turn of turns) dropLabels(turn, target.warnings, { names: true })
  return joinInstructions(turns).flatMap((turn) => writeTurn(turn, target))
}

function writeTurn(turn: Turn, target: TargetContext): WireMessage[] {
  switch (turn.role) {
    case 'system':
      return [writeSystem(turn, target)]
    case 'user':
      return [defined({ role: turn.role, content: writeContent(turn.content, target), name: turn.name })]
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

/** Is there anything in the message? Of an answer that was only an image nothing is left, which providers refuse. */
const isNotEmpty = ({ role, name, content, ...more }: WireAssistantMessage): boolean =>
  content !== null || Object.keys(more).length > 0

function writeSystem({ as, content, name }: SystemTurn, target: TargetContext): WireSystemMessage {
  const role = as === 'developer' ? 'developer' : 'system'
  return defined<WireSystemMessage>({ role, content: writeTexts(content, target, '\n\n'), name })
}

/** Writes a tool's result. The format cannot mark it as an error, so its text begins with `Error: `. */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext) {
  const last = content.at(-1)
  const marked = cache && last && last.type !== 'video' ? [...content.slice(0, -1), { ...last, cache }] : content
  const written = writeTexts(marked, target, '\n')
  if (!isError) return written
  return typeof written === 'string' ? `Error: ${written}` : [{ type: 'text' as const, text: 'Error: ' }, ...written]
}

function joinInstructions(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    const isMore =
      turn.role === 'system' && last?.role === 'system' && turn.as === 'instructions' && last.as === 'instructions'
    if (isMore) joined.splice(-1, 1, { ...last, content: [...last.content, ...turn.content] })
    else joined.push(turn)
  }
  return joined
}

/** Writes an earlier turn of the model. Without text its content is null, since strict providers refuse an empty string. */
function writeAssistant({ content, name }: AssistantTurn, target: TargetContext): WireAssistantMessage {
  const text = textOf(separateParagraphs(content), 'text')
  const calls = content.filter((part) => part.type === 'tool-call')
  const reasoning = content.filter((part) => part.type === 'reasoning')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? [writeImage(part, target)] : []))
  warnOfLosses(content, target.warnings)
  return defined<WireAssistantMessage>({
    role: 'assistant',
    content: contentWithReasoning(text, reasoning, target),
    refusal: textOf(content, 'refusal') || undefined,
    name,
    audio: audio?.id === undefined ? undefined : { id: audio.id },
    ...writeReasoning(reasoning, target),
    images: images.length > 0 ? images : undefined,
    tool_calls: calls.length > 0 ? calls.map(writeCall) : undefined,
  })
}

/** Writes an image that the model has generated; requests for vendors without a field for it have it in a user's turn by now. */
const writeImage = (part: ImagePart, target: TargetContext): WireImage => ({
  type: 'image_url',
  image_url: { url: urlOf(part, target) },
})

/** Reports what the message cannot hold: audio without an id, and cache marks, since the text is a plain string. */
function warnOfLosses(content: readonly AssistantPart[], warnings: Warnings) {
  for (const part of content) {
    if (part.type === 'audio' && part.id === undefined) warnings.noteDropped(warnings.pathOf(part, 'turns'))
    if ('cache' in part && part.cache) warnings.noteDropped(warnings.pathOf(part.cache, 'cache'))
  }
}

/**
 * The parts, with a blank line between texts that were separated by a call: the format has one field for all text of a turn. Texts that end or
 * begin with white space stay as they are.
 */
function separateParagraphs(content: readonly AssistantPart[]): readonly AssistantPart[] {
  let last: string | undefined // the last text so far
  let isAfterCall = false
  return content.map((part) => {
    if (part.type === 'tool-call') isAfterCall = last !== undefined
    if (part.type !== 'text' || part.text === '') return part
    const isJoined = isAfterCall && last !== undefined && !/\s$/.test(last) && !/^\s/.test(part.text)
    last = part.text
    isAfterCall = false
    return isJoined ? { ...part, text: `\n\n${part.text}` } : part
  })
}

/** Writes the target's own reasoning, if it accepts that back, into the field where it reads it. */
function writeReasoning(reasoning: readonly ReasoningPart[], { traits }: TargetContext) {
  const details = reasoning.flatMap((part): JsonObject[] => {
    const detail = detailOf(part)
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

/** The content with the reasoning of Mistral's models, which is a part of it. */
function contentWithReasoning(text: string, reasoning: readonly ReasoningPart[], { traits }: TargetContext) {
  const thinkingText = reasoning.map((part) => part.text).join('')
  if (traits.reasoning.field !== 'thinking-parts' || thinkingText === '') return text === '' ? null : text
  const thinking = { type: 'thinking' as const, thinking: [{ type: 'text' as const, text: thinkingText }] }
  return text === '' ? [thinking] : [thinking, { type: 'text' as const, text }]
}

/** Writes a user's content: a string for a single text without a cache mark, else parts. */
function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireUserPart[] {
  const [only] = parts
  if (!only) return ''
  if (parts.length === 1 && only.type === 'text' && !only.cache) return only.text
  return parts.flatMap((part) => writePart(part, target))
}

/** Writes texts of instructions or results: a string, or parts if there are cache marks. `separator` separates the texts in the string. */
function writeTexts(parts: readonly UserPart[], target: TargetContext, separator: string): string | WireTextPart[] {
  const texts = parts.flatMap((part) => writePart(part, target)).filter((part) => part.type === 'text')
  const isMarked = texts.some((part) => part.cache_control ?? part.prompt_cache_breakpoint)
  return isMarked ? texts : texts.map((part) => part.text).join(separator)
}

function writePart(part: UserPart, target: TargetContext): WireUserPart[] {
  const marks = writeMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...marks }]
    case 'image':
      return [{ type: 'image_url', image_url: defined({ url: urlOf(part, target), detail: part.detail }), ...marks }]
    case 'file':
      return [{ ...writeFile(part, target), ...marks }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: wireInputAudio(part, target), ...marks }]
    case 'search-result':
      return part.content.map(({ text }) => ({
        type: 'text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...marks,
      }))
    case 'video': // an extension of vendors with this trait
      if (part.fps ?? part.startOffset ?? part.endOffset)
        target.warnings.noteDropped(target.warnings.pathOf(part, 'turns', 'clip'))
      return [{ type: 'video_url', video_url: { url: urlOf(part, target) } }]
    default:
      return assertNever(part)
  }
}

function writeFile(part: FilePart, target: TargetContext): WireUserPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'text', text: source.text } // documents are text by now
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.noteDropped(target.warnings.pathOf(part, 'file', 'name')) // an uploaded file keeps the name of its upload
    return { type: 'file', file: { file_id: openaiFileId(source, part, target) } }
  }
  const filename = source.type === 'base64' ? fileName(name, source.mediaType) : (name ?? 'file.pdf')
  return { type: 'file', file: { file_data: urlOf(part, target), filename } }
}

/** The URL of an image or a file; a data URL for bytes. */
function urlOf(part: ImagePart | FilePart | { source: MediaSource }, { warnings }: TargetContext): string {
  const { source } = part
  if (source.type === 'base64') return dataUrl(source)
  if (source.type === 'url') return source.url
  return warnings.refuse(warnings.pathOf(part, 'content'), 'the target takes no file by its id here.')
}

/** Writes a cache mark in the form that the target accepts. */
export function writeMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMarks {
  if (!cache || traits.cacheMarks === 'none') return {}
  if (traits.cacheMarks === 'cache_control') return { cache_control: { type: 'ephemeral', ...cache } }
  return { prompt_cache_breakpoint: writeBreakpoint(cache, warnings) }
}

/** The entry of `reasoning_details` that `parseDetail` has read. Its type decides between text and summary, which clients may confuse. */
function detailOf({ text, isSummary, state }: ReasoningPart): JsonObject | undefined {
  if (state?.kind !== 'detail') return undefined
  const rest = tryParseShallow(state.data)
  if (!isObject(rest)) return undefined
  if (text === '') return rest
  const hasSummary = rest.type === 'reasoning.summary' || (isSummary && rest.type !== 'reasoning.text')
  return { ...rest, [hasSummary ? 'summary' : 'text']: text }
}
