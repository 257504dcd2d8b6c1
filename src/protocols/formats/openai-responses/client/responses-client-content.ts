import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import { type Fields, readCacheBreakpoint, readElementFields, requireFields } from '../../canonical/canonical-fields.ts'
import { createBase64Source, type MediaSource, parseMediaUrl } from '../../canonical/canonical-media.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheBreakpoint,
  FilePart,
  ImagePart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../canonical/canonical-parts.ts'
import { omitUndefined, readStringOrEmpty } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { ContentSyntax } from '../../openai-fields.ts'
import { parseClientCall } from '../responses-client-run-tools.ts'
import { parseAnnotations, parseGeneratedImage, parseSearch } from '../responses-fields.ts'
import { parseReasoningInput } from '../responses-reasoning.ts'
import { joinToolNames, type Namespaces } from './responses-client-tools.ts'

/** Parses a model-written item that the client sends back. Returns `undefined` for other items. */
export function parseAssistantItem(
  item: Fields,
  namespaces: Namespaces,
  warnings: Warnings,
): AssistantPart[] | undefined {
  switch (item.string('type') ?? 'message') {
    case 'message':
      return item.string('role') === 'assistant' ? parseOutputMessage(item, warnings) : undefined
    case 'reasoning':
      return parseReasoning(item, warnings)
    case 'function_call':
    case 'custom_tool_call':
      return [parseCall(item, namespaces, warnings)]
    case 'web_search_call': {
      const search = parseSearch(item.value)
      warnings.setPath(search, item.path)
      return [search]
    }
    case 'image_generation_call': {
      const image = parseGeneratedImage(item.value)
      if (image) warnings.setPath(image, item.path)
      else warnings.recordDrop(item.path) // if there is an image, it is stored at OpenAI
      return image ? [image] : []
    }
    default:
      return parseClientRunCall(item, warnings)
  }
}

function parseClientRunCall(item: Fields, warnings: Warnings): ToolCallPart[] | undefined {
  const call = parseClientCall(item.value)
  if (!call) return undefined
  const id = item.string('call_id') || item.string('id') || warnings.reject(item.getPath('call_id'), 'is required.')
  const part = { ...call, id }
  warnings.setPath(part, item.path)
  return [part]
}

function parseOutputMessage(item: Fields, warnings: Warnings): AssistantPart[] {
  const content = item.any('content')
  const phase = item.oneOfOrDrop('phase', ['commentary', 'final_answer'])
  item.ignore('id', 'status', 'type', 'role')
  item.dropUnread()
  if (content === undefined || content === '') return []
  const setContentPath = (part: TextPart, index: number) => {
    warnings.setPath(part, item.path, { citations: `content[${index}].annotations` })
    return part
  }
  if (typeof content === 'string')
    return [setContentPath(omitUndefined<TextPart>({ type: 'text', text: content, phase }), 0)]
  const path = item.getPath('content')
  if (!Array.isArray(content)) return warnings.reject(path, 'must be a string or an array of parts.')
  return content.flatMap((entry: unknown, index): AssistantPart[] => {
    const part = readElementFields(entry, `${path}[${index}]`, warnings)
    const type = part.string('type')
    const citations = parseAnnotations(part.any('annotations'))
    const text = part.string(type === 'refusal' ? 'refusal' : 'text')
    part.ignore('logprobs')
    part.dropUnread()
    if (type === 'refusal') return [{ type, text: text ?? '' }]
    if (type !== 'output_text' && type !== 'input_text' && type !== 'text')
      return warnings.reject(part.getPath('type'), `content of type "${type}" is not allowed in an assistant message.`)
    if (!text) return []
    const presentCitations = citations.length > 0 ? citations : undefined
    return [setContentPath(omitUndefined<TextPart>({ type: 'text', text, phase, citations: presentCitations }), index)]
  })
}

/** Parses reasoning. Drops an item that only refers to reasoning stored by OpenAI, because nothing else depends on it. */
function parseReasoning(item: Fields, warnings: Warnings): AssistantPart[] {
  const part = parseReasoningInput(item.value)
  if (!part) warnings.recordDrop(item.path)
  return part ? [part] : []
}

function parseCall(item: Fields, namespaces: Namespaces, warnings: Warnings): ToolCallPart {
  const isFreeForm = item.string('type') === 'custom_tool_call'
  const id = item.string('call_id') || item.string('id') || warnings.reject(item.getPath('call_id'), 'is required.')
  const shortName = item.string('name') || warnings.reject(item.getPath('name'), 'is required.')
  const namespace = item.string('namespace')
  const fullName = namespace === undefined ? shortName : joinToolNames(namespace, shortName)
  const name = Object.hasOwn(namespaces, fullName) ? fullName : shortName // tools found by a search have an undeclared namespace
  const part: ToolCallPart = isFreeForm
    ? { type: 'tool-call', id, name, arguments: item.string('input') ?? '', isFreeForm }
    : { type: 'tool-call', id, name, arguments: stringifyArguments(item.any('arguments') ?? '') }
  item.ignore('id', 'status', 'caller')
  item.dropUnread()
  warnings.setPath(part, item.path)
  return part
}

/** Converts an item about an OpenAI-run tool to text for another model. The text may be empty. Returns `undefined` for other items. */
export function formatHostedItem(item: JsonObject): string | undefined {
  switch (item.type) {
    case 'code_interpreter_call':
      return joinLines(
        `code_interpreter(${readStringOrEmpty(item.code)})`,
        ...filterObjects(item.outputs).map(({ logs }) => readStringOrEmpty(logs)),
      )
    case 'file_search_call': {
      const queries = Array.isArray(item.queries) ? item.queries.map(readStringOrEmpty) : []
      const results = filterObjects(item.results).map(
        ({ filename, text }) => `- ${readStringOrEmpty(filename)}: ${readStringOrEmpty(text)}`,
      )
      return joinLines(`file_search(${queries.join(', ')})`, ...results)
    }
    case 'mcp_call':
      return joinLines(
        `${readStringOrEmpty(item.name)}(${readStringOrEmpty(item.arguments)})`,
        readStringOrEmpty(item.output),
        readStringOrEmpty(isObject(item.error) ? item.error.message : item.error),
      )
    case 'mcp_list_tools':
      return ''
    default:
      return undefined
  }
}

const joinLines = (...texts: string[]): string => texts.filter((line) => line !== '').join('\n')

const filterObjects = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** How to parse the content of messages and tool outputs. */
export const contentSyntax: ContentSyntax = { parsePart, acceptsStrings: false, fieldNames: { name: 'filename' } }

function parsePart(fields: Fields, warnings: Warnings): UserPart | undefined {
  const cache = readCacheBreakpoint(fields.fields('prompt_cache_breakpoint'), ['30m', '12h'], warnings)
  const type = fields.string('type')
  switch (type) {
    case 'input_text':
    case 'output_text': // a user message can contain another agent's output
    case 'text': {
      const text = fields.string('text')
      fields.ignore('annotations', 'logprobs')
      return text || (cache && text === '') ? omitUndefined<TextPart>({ type: 'text', text, cache }) : undefined
    }
    case 'input_image':
      return parseImage(fields, cache, warnings)
    case 'input_file':
      return parseFile(fields, cache, warnings)
    case 'input_audio':
      return parseAudio(fields, cache, warnings)
    default:
      return warnings.reject(fields.getPath('type'), `content of type "${type}" is not supported.`)
  }
}

function parseImage(fields: Fields, cache: CacheBreakpoint | undefined, warnings: Warnings): ImagePart {
  const detail = fields.oneOfOrDrop('detail', ['auto', 'low', 'high', 'original'])
  const url = fields.string('image_url')
  const id = fields.string('file_id')
  const part = { type: 'image', detail: detail === 'auto' ? undefined : detail, cache } as const
  if (url !== undefined) return omitUndefined<ImagePart>({ ...part, source: parseMediaUrl(url, 'image/png') })
  if (id !== undefined) return omitUndefined<ImagePart>({ ...part, source: createFileSource(id) })
  return warnings.reject(fields.getPath('image_url'), 'is required unless "file_id" is set.')
}

function parseFile(fields: Fields, cache: CacheBreakpoint | undefined, warnings: Warnings): FilePart {
  const data = fields.string('file_data')
  const url = fields.string('file_url')
  const id = fields.string('file_id')
  const part = { type: 'file', name: fields.string('filename'), cache } as const
  if (data !== undefined) return omitUndefined<FilePart>({ ...part, source: parseFileSource(data) })
  if (url !== undefined) return omitUndefined<FilePart>({ ...part, source: parseMediaUrl(url, 'application/pdf') })
  if (id !== undefined) return omitUndefined<FilePart>({ ...part, source: createFileSource(id) })
  return warnings.reject(fields.getPath('file_data'), 'is required unless "file_url" or "file_id" is set.')
}

/** Parses a data URL or, from some vendors, bare base64. */
const parseFileSource = (data: string): MediaSource =>
  data.startsWith('data:') ? parseMediaUrl(data, 'application/pdf') : createBase64Source('application/pdf', data)

const createFileSource = (id: string): MediaSource => ({ type: 'file-id', id, format: 'openai-responses' })

function parseAudio(fields: Fields, cache: CacheBreakpoint | undefined, warnings: Warnings): AudioPart {
  const audio = requireFields(fields, 'input_audio', warnings)
  const format = audio.string('format') ?? 'wav'
  const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  return omitUndefined<AudioPart>({
    type: 'audio',
    source: createBase64Source(mediaType, audio.string('data') ?? ''),
    cache,
  })
}
