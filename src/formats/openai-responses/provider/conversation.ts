import { assertNever } from '../../../lib/assert-never.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { dataUrl } from '../../canonical/media.ts'
import type {
  AssistantPart,
  CacheMark,
  FilePart,
  ImagePart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../canonical/parts.ts'
import { dropLabels, type SystemTurn, type ToolResult, type Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import { fileName, openaiFileId, wireInputAudio, writeBreakpoint } from '../../openai-fields.ts'
import type { TargetContext } from '../../translator.ts'
import { phaseOf, wireAnnotation } from '../fields.ts'
import { writeReasoningInput } from '../reasoning.ts'
import type { WireCompactionInput, WireInputItem, WireInputPart, WireMark, WireOutputPart } from '../wire.ts'

/** An item, written by the gateway or passed on unchanged. */
type Item = WireInputItem | JsonObject

/** Writes `input`: the items of each turn. Providers refuse an empty input, so that it holds at least an empty message. */
export function writeItems(turns: readonly Turn[], target: TargetContext): Item[] {
  const items = turns.flatMap((turn) => writeTurn(turn, target))
  return items.length > 0 ? items : [{ type: 'message', role: 'user', content: '' }]
}

function writeTurn(turn: Turn, target: TargetContext): Item[] {
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
          ownForm(result, result.callId, target) ?? {
            type: result.isFreeForm ? 'custom_tool_call_output' : 'function_call_output',
            call_id: result.callId,
            output: writeResult(result, target),
          },
      )
    default:
      return assertNever(turn)
  }
}

/** Writes instructions within the conversation, in the role in which the target takes those at its beginning. */
function writeSystem({ as, content }: SystemTurn, target: TargetContext): WireInputItem {
  const isDeveloper = as === 'developer' || (as === 'instructions' && target.traits.developerRole)
  return { type: 'message', role: isDeveloper ? 'developer' : 'system', content: writeContent(content, target) }
}

/** The parts of a turn, with texts before calls for providers that refuse anything between a call and its result. */
function textsBeforeCalls(content: readonly AssistantPart[], { traits }: TargetContext): readonly AssistantPart[] {
  const first = content.findIndex(({ type }) => type === 'tool-call')
  if (traits.textAfterCalls || first === -1) return content
  const rest = content.slice(first)
  return [...content.slice(0, first), ...rest.filter(isTextOrRefusal), ...rest.filter((part) => !isTextOrRefusal(part))]
}

const isTextOrRefusal = (part: AssistantPart): part is TextPart | RefusalPart =>
  part.type === 'text' || part.type === 'refusal'

function writeAssistant(content: readonly AssistantPart[], target: TargetContext): Item[] {
  const items: Item[] = []
  let texts: (TextPart | RefusalPart)[] = []

  function flush() {
    if (texts.length > 0) items.push(writeMessage(texts))
    texts = []
  }

  for (const part of textsBeforeCalls(content, target)) {
    if ('cache' in part && part.cache) target.warnings.noteDropped(target.warnings.pathOf(part.cache, 'cache')) // only input has cache marks
    if (!isTextOrRefusal(part) || phaseOf(part) !== phaseOf(texts[0])) flush()
    if (isTextOrRefusal(part)) texts.push(part)
    else items.push(...writeOtherPart(part, target))
  }
  flush()
  return items
}

/** Writes consecutive texts of one phase as a message. */
function writeMessage(parts: readonly (TextPart | RefusalPart)[]): WireInputItem {
  const [only] = parts
  const phase = phaseOf(only)
  const isPlain = parts.length === 1 && only?.type === 'text' && !only.citations
  const content = isPlain ? only.text : parts.map(writeOutputPart)
  const message = { type: 'message', role: 'assistant', content } as const
  return phase ? { ...message, phase } : message
}

function writeOutputPart(part: TextPart | RefusalPart): WireOutputPart {
  const { type, text } = part
  if (type === 'refusal') return { type, refusal: text }
  const annotations = (part.citations ?? []).flatMap((citation) => wireAnnotation(citation, text.length) ?? [])
  return { type: 'output_text', text, annotations }
}

function writeOtherPart(part: Exclude<AssistantPart, TextPart | RefusalPart>, target: TargetContext): Item[] {
  switch (part.type) {
    case 'reasoning':
      return [writeReasoningInput(part)]
    case 'tool-call':
      return [ownForm(part, part.id, target) ?? writeCall(part)]
    case 'server-tool': // is a text by now
      return []
    case 'compaction':
      return part.encrypted ? [compactionInput(part.encrypted)] : []
    case 'image': // is in a user's turn by now
      return []
    case 'audio':
      if (part.transcript === undefined) target.warnings.noteDropped(target.warnings.pathOf(part, 'audio'))
      return part.transcript ? [writeMessage([{ type: 'text', text: part.transcript }])] : []
    default:
      return assertNever(part)
  }
}

/** The original item of a tool that OpenAI defines and the client runs, for targets that know the tool; without its id, which only stored items have. */
function ownForm(
  { own }: ToolCallPart | ToolResult,
  callId: string,
  { traits }: TargetContext,
): JsonObject | undefined {
  if (!traits.ownTools || own?.format !== 'openai-responses') return undefined
  const { id: _, ...item } = own.value
  return item.type === 'local_shell_call_output' ? { ...item, id: callId } : { ...item, call_id: callId }
}

function writeCall({ id, name, arguments: input, isFreeForm }: ToolCallPart): WireInputItem {
  return isFreeForm
    ? { type: 'custom_tool_call', call_id: id, name, input }
    : { type: 'function_call', call_id: id, name, arguments: input || '{}' }
}

/**
 * Writes a tool's result. The format cannot mark it as an error, so its text begins with `Error: `. It is a string for providers that accept only
 * text from tools.
 */
function writeResult({ content, isError, cache }: ToolResult, target: TargetContext): string | WireInputPart[] {
  const last = content.at(-1)
  const marked = cache && last && last.type !== 'video' ? [...content.slice(0, -1), { ...last, cache }] : content
  const written = writeContent(marked, target)
  const mark = isError ? 'Error: ' : ''
  if (typeof written === 'string') return mark + written
  const texts = written.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
  if (target.traits.toolResultInputs.length === 0 && texts.length === written.length) return mark + texts.join('\n')
  return isError ? [{ type: 'input_text', text: mark }, ...written] : written
}

/** Writes content of a user or a tool: a string for a single text without a cache mark, else parts. */
function writeContent(parts: readonly UserPart[], target: TargetContext): string | WireInputPart[] {
  const [only] = parts
  if (parts.length === 0) return ''
  if (parts.length === 1 && only?.type === 'text' && !only.cache) return only.text
  return parts.flatMap((part) => writePart(part, target))
}

function writePart(part: UserPart, target: TargetContext): WireInputPart[] {
  const mark = writeMark(part.type === 'video' ? undefined : part.cache, target)
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text, ...mark }]
    case 'image':
      return [{ type: 'input_image', detail: part.detail ?? 'auto', ...imageSource(part, target), ...mark }]
    case 'file':
      return [{ ...writeFile(part, target), ...mark }]
    case 'audio':
      return [{ type: 'input_audio', input_audio: wireInputAudio(part, target), ...mark }]
    case 'search-result':
      return part.content.map(({ text }) => ({
        type: 'input_text',
        text: `${part.title}\n${part.source}\n\n${text}`,
        ...mark,
      }))
    case 'video':
      return target.warnings.refuse(target.warnings.pathOf(part, 'video'), 'the target takes no video.')
    default:
      return assertNever(part)
  }
}

function imageSource(part: ImagePart, target: TargetContext) {
  const { source } = part
  if (source.type === 'file-id') return { file_id: openaiFileId(source, part, target) }
  if (source.type === 'base64') return { image_url: dataUrl(source) }
  if (source.type === 'url') return { image_url: source.url }
  return target.warnings.refuse(target.warnings.pathOf(part, 'image'), 'text is no image.')
}

function writeFile(part: FilePart, target: TargetContext): WireInputPart {
  const { source, name } = part
  if (source.type === 'text') return { type: 'input_text', text: source.text } // documents are text by now
  if (source.type === 'file-id') {
    if (name !== undefined) target.warnings.noteDropped(target.warnings.pathOf(part, 'file', 'name')) // an uploaded file keeps the name of its upload
    return { type: 'input_file', file_id: openaiFileId(source, part, target) }
  }
  if (source.type === 'url')
    return defined<WireInputPart & { type: 'input_file' }>({ type: 'input_file', file_url: source.url, filename: name })
  return { type: 'input_file', file_data: dataUrl(source), filename: fileName(name, source.mediaType) }
}

function writeMark(cache: CacheMark | undefined, { traits, warnings }: TargetContext): WireMark {
  if (!cache || traits.cacheMarks !== 'prompt_cache_breakpoint') return {}
  return { prompt_cache_breakpoint: writeBreakpoint(cache, warnings) }
}

/** Writes a compaction that the provider has encrypted. */
function compactionInput({ id, data }: { id?: string; data: string }): WireCompactionInput {
  const item = { type: 'compaction', encrypted_content: data } as const
  return id === undefined ? item : { ...item, id }
}
