import { isObject, type JsonObject } from '../../../lib/json.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { elementFields, type Fields } from '../../canonical/fields.ts'
import { base64Source, type MediaSource, sourceOfUrl } from '../../canonical/media.ts'
import type {
  AssistantPart,
  AudioPart,
  CacheMark,
  FilePart,
  ImagePart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../canonical/parts.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { ContentForm } from '../../openai-fields.ts'
import { clientCall } from '../client-tools.ts'
import { imagePart, parseAnnotations, searchPart } from '../fields.ts'
import { parseReasoningInput } from '../reasoning.ts'
import { type Namespaces, plainName } from './tools.ts'

/** Parses an item of the model that the client sends back; undefined for other items. */
export function parseAssistantItem(
  item: Fields,
  namespaces: Namespaces,
  warnings: Warnings,
): AssistantPart[] | undefined {
  switch (item.text('type') ?? 'message') {
    case 'message':
      return item.text('role') === 'assistant' ? parseOutputMessage(item, warnings) : undefined
    case 'reasoning':
      return parseReasoning(item, warnings)
    case 'function_call':
    case 'custom_tool_call':
      return [parseCall(item, namespaces, warnings)]
    case 'web_search_call': {
      const search = searchPart(item.value)
      warnings.place(search, item.at)
      return [search]
    }
    case 'image_generation_call': {
      const image = imagePart(item.value)
      if (image) warnings.place(image, item.at)
      else warnings.noteDropped(item.at) // the image is stored at OpenAI, if anywhere
      return image ? [image] : []
    }
    default:
      return parseOwnCall(item, warnings)
  }
}

/** Parses a call of a tool that OpenAI defines and the client runs. */
function parseOwnCall(item: Fields, warnings: Warnings): ToolCallPart[] | undefined {
  const call = clientCall(item.value)
  if (!call) return undefined
  const id = item.text('call_id') || item.text('id') || warnings.refuse(item.path('call_id'), 'is required.')
  const part = { ...call, id }
  warnings.place(part, item.at)
  return [part]
}

/** Parses a message of the model: a string, or parts, which clients send as output or input parts. */
function parseOutputMessage(item: Fields, warnings: Warnings): AssistantPart[] {
  const content = item.any('content')
  const phase = item.wordOrDrop('phase', ['commentary', 'final_answer'])
  item.ignore('id', 'status', 'type', 'role')
  item.drop()
  if (content === undefined || content === '') return []
  const place = (part: TextPart, index: number) => {
    warnings.place(part, item.at, { citations: `content[${index}].annotations` })
    return part
  }
  if (typeof content === 'string') return [place(defined<TextPart>({ type: 'text', text: content, phase }), 0)]
  const path = item.path('content')
  if (!Array.isArray(content)) return warnings.refuse(path, 'must be a string or an array of parts.')
  return content.flatMap((entry: unknown, index): AssistantPart[] => {
    const part = elementFields(entry, `${path}[${index}]`, warnings)
    const type = part.text('type')
    const citations = parseAnnotations(part.any('annotations'))
    const text = part.text(type === 'refusal' ? 'refusal' : 'text')
    part.ignore('logprobs')
    part.drop()
    if (type === 'refusal') return [{ type, text: text ?? '' }]
    if (type !== 'output_text' && type !== 'input_text' && type !== 'text')
      return warnings.refuse(part.path('type'), `"${type}" is no type of content that an assistant has said.`)
    if (!text) return []
    const cited = citations.length > 0 ? citations : undefined
    return [place(defined<TextPart>({ type: 'text', text, phase, citations: cited }), index)]
  })
}

/** Parses reasoning. An item that only refers to reasoning stored at OpenAI is dropped; nothing else depends on it. */
function parseReasoning(item: Fields, warnings: Warnings): AssistantPart[] {
  const part = parseReasoningInput(item.value)
  if (!part) warnings.noteDropped(item.at)
  return part ? [part] : []
}

function parseCall(item: Fields, namespaces: Namespaces, warnings: Warnings): ToolCallPart {
  const isFreeForm = item.text('type') === 'custom_tool_call'
  const id = item.text('call_id') || item.text('id') || warnings.refuse(item.path('call_id'), 'is required.')
  const given = item.text('name') || warnings.refuse(item.path('name'), 'is required.')
  const namespace = item.text('namespace')
  const plain = namespace === undefined ? given : plainName(namespace, given)
  const name = Object.hasOwn(namespaces, plain) ? plain : given // a tool that was found by a search has a namespace that no tool declares
  const part: ToolCallPart = isFreeForm
    ? { type: 'tool-call', id, name, arguments: item.text('input') ?? '', isFreeForm }
    : { type: 'tool-call', id, name, arguments: argumentsText(item.any('arguments') ?? '') }
  item.ignore('id', 'status', 'caller')
  item.drop()
  warnings.place(part, item.at)
  return part
}

/** An item about a tool that ran at OpenAI, as text that another model can read, perhaps empty; undefined for other items. */
export function textOfHostedItem(item: JsonObject): string | undefined {
  switch (item.type) {
    case 'code_interpreter_call':
      return lines(`code_interpreter(${text(item.code)})`, ...objectsIn(item.outputs).map(({ logs }) => text(logs)))
    case 'file_search_call': {
      const queries = Array.isArray(item.queries) ? item.queries.map(text) : []
      const found = objectsIn(item.results).map((result) => `- ${text(result.filename)}: ${text(result.text)}`)
      return lines(`file_search(${queries.join(', ')})`, ...found)
    }
    case 'mcp_call':
      return lines(`${text(item.name)}(${text(item.arguments)})`, text(item.output), errorText(item.error))
    case 'mcp_list_tools':
      return ''
    default:
      return undefined
  }
}

const errorText = (error: unknown): string => (isObject(error) ? text(error.message) : text(error))

const lines = (...texts: string[]): string => texts.filter((line) => line !== '').join('\n')

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const objectsIn = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** The form of content in messages, and in outputs of tools. */
export const contentForm: ContentForm = { parsePart, takesStrings: false, names: { name: 'filename' } }

function parsePart(fields: Fields, warnings: Warnings): UserPart | undefined {
  const cache = parseMark(fields, warnings)
  const type = fields.text('type')
  switch (type) {
    case 'input_text':
    case 'output_text': // the output of another agent in a user's message
    case 'text': {
      const text = fields.text('text')
      fields.ignore('annotations', 'logprobs')
      return text ? defined<TextPart>({ type: 'text', text, cache }) : undefined
    }
    case 'input_image':
      return parseImage(fields, cache, warnings)
    case 'input_file':
      return parseFile(fields, cache, warnings)
    case 'input_audio':
      return parseAudio(fields, cache, warnings)
    default:
      return warnings.refuse(fields.path('type'), `"${type}" is no type of content that can be passed on.`)
  }
}

function parseImage(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): ImagePart {
  const detail = fields.wordOrDrop('detail', ['auto', 'low', 'high', 'original'])
  const url = fields.text('image_url')
  const id = fields.text('file_id')
  const part = { type: 'image', detail: detail === 'auto' ? undefined : detail, cache } as const
  if (url !== undefined) return defined<ImagePart>({ ...part, source: sourceOfUrl(url, 'image/png') })
  if (id !== undefined) return defined<ImagePart>({ ...part, source: fileId(id) })
  return warnings.refuse(fields.path('image_url'), 'is required, or "file_id".')
}

function parseFile(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): FilePart {
  const data = fields.text('file_data')
  const url = fields.text('file_url')
  const id = fields.text('file_id')
  const part = { type: 'file', name: fields.text('filename'), cache } as const
  if (data !== undefined) return defined<FilePart>({ ...part, source: fileSource(data) })
  if (url !== undefined) return defined<FilePart>({ ...part, source: sourceOfUrl(url, 'application/pdf') })
  if (id !== undefined) return defined<FilePart>({ ...part, source: fileId(id) })
  return warnings.refuse(fields.path('file_data'), 'is required, or "file_url", or "file_id".')
}

/** The source that a data URL, or for some vendors bare base64, names. */
const fileSource = (data: string): MediaSource =>
  data.startsWith('data:') ? sourceOfUrl(data, 'application/pdf') : base64Source('application/pdf', data)

const fileId = (id: string): MediaSource => ({ type: 'file-id', id, format: 'openai-responses' })

function parseAudio(fields: Fields, cache: CacheMark | undefined, warnings: Warnings): AudioPart {
  const audio = fields.fields('input_audio') ?? warnings.refuse(fields.path('input_audio'), 'is required.')
  const format = audio.text('format') ?? 'wav'
  const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`
  return defined<AudioPart>({ type: 'audio', source: base64Source(mediaType, audio.text('data') ?? ''), cache })
}

function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const mark = fields.fields('prompt_cache_breakpoint')
  if (!mark) return undefined
  const ttl = mark.wordOrDrop('ttl', ['30m', '12h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}
