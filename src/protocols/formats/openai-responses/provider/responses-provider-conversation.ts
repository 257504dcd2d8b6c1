import { assertNever } from '../../../../lib/assert-never.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import { toDataUrl } from '../../canonical/canonical-media.ts'
import type {
  AssistantPart,
  CacheBreakpoint,
  FilePart,
  ImagePart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { dropLabels, type SystemTurn, type ToolResult, type Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { getOpenAIFileId, toFileName, writeExplicitBreakpoint, writeInputAudio } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import { getPhase, writeAnnotation } from '../responses-fields.ts'
import { writeReasoningInput } from '../responses-reasoning.ts'
import type { WireBreakpoint, WireInputItem, WireInputPart, WireOutputPart } from '../responses-wire.ts'

/** An item that the gateway wrote, or forwards unchanged. */
type InputItem = WireInputItem | JsonObject

/** Writes `input`: each turn's items, or an empty message, because providers reject an empty input. */
export function writeItems(turns: readonly Turn[], target: TargetContext): InputItem[] {
  const items = turns.flatMap((turn) => writeTurn(turn, target))
  return items.length > 0 ? items : [{ type: 'message', role: 'user', content: '' }]
}

function writeTurn(turn: Turn, target: TargetContext): InputItem[] {
  dropLabels(turn, target.warnings, { phases: true, citations: ({ url }) => url !== undefined })
  switch (turn.role) {
    case 'system':
      return [writeSystem(turn, target)]
    case 'user':
      return [{ type: 'message', role: 'user', content: writeContent(turn.content, target) }]
    case 'assistant':
      return writeAssistant(turn.content, target)
    case 'tool':
      return turn.results.map(
        (result) =>
          getOriginalItem(result, result.callId, target) ?? {
            type: result.isFreeForm ? 'custom_tool_call_output' : 'function_call_output',
            call_id: result.callId,
            output: writeResult(result, target),
          },
      )
    default:
      return assertNever(turn)
  }
}

/** Writes instructions as a message, with the role that the target accepts for them. */
function writeSystem({ sentAs, content }: SystemTurn, target: TargetContext): WireInputItem {
  const isDeveloper = sentAs === 'developer' || (sentAs === 'instructions' && target.traits.developerRole)
  return { type: 'message', role: isDeveloper ? 'developer' : 'system', content: writeContent(content, target) }
}

/** Moves text before the tool calls, for providers that reject anything between a call and its result. */
function moveTextsBeforeCalls(content: readonly AssistantPart[], { traits }: TargetContext): readonly AssistantPart[] {
  const firstCallIndex = content.findIndex(({ type }) => type === 'tool-call')
  if (traits.textAfterCalls || firstCallIndex === -1) return content
  const laterParts = content.slice(firstCallIndex)
  return [
    ...content.slice(0, firstCallIndex),
    ...laterParts.filter(isTextOrRefusal),
    ...laterParts.filter((part) => !isTextOrRefusal(part)),
  ]
}

const isTextOrRefusal = (part: AssistantPart): part is TextPart | RefusalPart =>
  part.type === 'text' || part.type === 'refusal'

function writeAssistant(content: readonly AssistantPart[], target: TargetContext): InputItem[] {
  const items: InputItem[] = []
  let texts: (TextPart | RefusalPart)[] = []

  function flushTexts() {
    if (texts.length > 0) items.push(writeMessage(texts))
    texts = []
  }

  for (const part of moveTextsBeforeCalls(content, target)) {
    if ('cache' in part && part.cache) target.warnings.recordDrop(target.warnings.getPath(part.cache, 'cache')) // only input can have cache breakpoints
    if (!isTextOrRefusal(part) || getPhase(part) !== getPhase(texts[0])) flushTexts()
    if (isTextOrRefusal(part)) texts.push(part)
    else items.push(...writeOtherPart(part, target))
  }
  flushTexts()
  return items
}

function writeMessage(parts: readonly (TextPart | RefusalPart)[]): WireInputItem {
  const [firstPart] = parts
  const phase = getPhase(firstPart)
  const isPlainText = parts.length === 1 && firstPart?.type === 'text' && !firstPart.citations
  const content = isPlainText ? firstPart.text : parts.map(writeOutputPart)
  const message = { type: 'message', role: 'assistant', content } as const
  return phase ? { ...message, phase } : message
}

function writeOutputPart(part: TextPart | RefusalPart): WireOutputPart {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const annotations = (part.citations ?? []).flatMap((citation) => writeAnnotation(citation, text.length) ?? [])
  return { type: 'output_text', text, annotations }
}

function writeOtherPart(part: Exclude<AssistantPart, TextPart | RefusalPart>, target: TargetContext): InputItem[] {
  switch (part.type) {
    case 'reasoning':
      return [writeReasoningInput(part)]
    case 'tool-call':
      return [getOriginalItem(part, part.id, target) ?? writeCall(part)]
    case 'server-tool': // `prepareRequest` has converted it to text
      return []
    case 'compaction': {
      if (!part.encrypted) return []
      const { id, data } = part.encrypted
      return [{ type: 'compaction', encrypted_content: data, ...(id !== undefined && { id }) }]
    }
    case 'image': // `prepareRequest` has moved it to a user turn
      return []
    case 'audio':
      if (part.transcript === undefined) target.warnings.recordDrop(target.warnings.getPath(part, 'audio'))
      return part.transcript ? [writeMessage([{ type: 'text', text: part.transcript }])] : []
    default:
      return assertNever(part)
  }
}

/** Returns the client's item for an OpenAI-defined tool, for targets that support the tool. Omits the ID, which only stored items have. */
function getOriginalItem(
  { native }: ToolCallPart | ToolResult,
  callId: string,
  { traits }: TargetContext,
): JsonObject | undefined {
  if (!traits.ownTools || native?.format !== 'openai-responses') return undefined
  const { id: _, ...item } = native.value
  return item.type === 'local_shell_call_output' ? { ...item, id: callId } : { ...item, call_id: callId }
}

function writeCall({ id, name, arguments: input, isFreeForm }: ToolCallPart): WireInputItem {
  return isFreeForm
    ? { type: 'custom_tool_call', call_id: id, name, input }
    : { type: 'function_call', call_id: id, name, arguments: input || '{}' }
}

/**
 * Writes a tool result. The format can't mark errors, so error text begins with `Error: `. Providers that only accept text in tool results get a
 * string.
 */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext): string | WireInputPart[] {
  const lastPart = content.at(-1)
  const markedContent =
    cache && lastPart && lastPart.type !== 'video' ? [...content.slice(0, -1), { ...lastPart, cache }] : content
  const output = writeContent(markedContent, target)
  const prefix = isError ? 'Error: ' : ''
  if (typeof output === 'string') return prefix + output
  const texts = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
  if (target.traits.toolResultInputs.length === 0 && texts.length === output.length) return prefix + texts.join('\n')
  return isError ? [{ type: 'input_text', text: prefix }, ...output] : output
}

function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireInputPart[] {
  const [firstPart] = parts
  if (parts.length === 0) return ''
  if (parts.length === 1 && firstPart?.type === 'text' && !firstPart.cache) return firstPart.text
  return parts.flatMap((part) => writePart(part, target))
}

function writePart(part: UserPart, target: TargetContext): WireInputPart[] {
  const breakpoint = writeBreakpoint(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...breakpoint }]
    case 'image':
      return [{ type: 'input_image', detail: part.detail ?? 'auto', ...writeImageSource(part, target), ...breakpoint }]
    case 'file':
      return [{ ...writeFile(part, target), ...breakpoint }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: writeInputAudio(part, target), ...breakpoint }]
    case 'search-result':
      return part.content.map(({ text }, index) => ({
        type: 'input_text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...(index === part.content.length - 1 && breakpoint),
      }))
    case 'video':
      return target.warnings.reject(target.warnings.getPath(part, 'video'), 'the target does not support video.')
    default:
      return assertNever(part)
  }
}

function writeImageSource(part: ImagePart, target: TargetContext) {
  const { source } = part
  if (source.type === 'file-id') return { file_id: getOpenAIFileId(source, part, target) }
  if (source.type === 'base64') return { image_url: toDataUrl(source) }
  if (source.type === 'url') return { image_url: source.url }
  return target.warnings.reject(target.warnings.getPath(part, 'image'), 'text is not an image.')
}

function writeFile(part: FilePart, target: TargetContext): WireInputPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'input_text', text: source.text } // `prepareRequest` has converted documents to text
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.recordDrop(target.warnings.getPath(part, 'file', 'name')) // an uploaded file keeps its original name
    return { type: 'input_file', file_id: getOpenAIFileId(source, part, target) }
  }
  if (source.type === 'url')
    return omitUndefined<WireInputPart & { type: 'input_file' }>({
      type: 'input_file',
      file_url: source.url,
      filename: name,
    })
  return { type: 'input_file', file_data: toDataUrl(source), filename: toFileName(name, source.mediaType) }
}

function writeBreakpoint(cache: CacheBreakpoint | undefined, { traits, warnings }: TargetContext): WireBreakpoint {
  if (!cache || traits.cacheBreakpoints !== 'prompt_cache_breakpoint') return {}
  return { prompt_cache_breakpoint: writeExplicitBreakpoint(cache, warnings) }
}
