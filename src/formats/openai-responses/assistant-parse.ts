import { isObject } from '../../lib/json.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { base64Source } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { AssistantPart, ImagePart, ServerToolPart, TextPart, ToolCallPart } from '../canonical/parts.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseAnnotations } from './annotations.ts'
import { clientCall } from './client-tools.ts'
import { type Namespaces, plainName } from './namespaces.ts'
import { parseThoughtInput } from './reasoning.ts'

/** An item that the model has made, as the client gives it back; undefined: it is no such item. */
export function parseAssistantItem(
  item: Fields,
  namespaces: Namespaces,
  warnings: Warnings,
): AssistantPart[] | undefined {
  switch (item.text('type') ?? 'message') {
    case 'message':
      return item.text('role') === 'assistant' ? parseSaid(item, warnings) : undefined
    case 'reasoning':
      return parseThoughts(item, warnings)
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
      else warnings.dropped(item.at) // it is kept at OpenAI, if anywhere
      return image ? [image] : []
    }
    default:
      return parseOwnCall(item, warnings)
  }
}

/** A call of a tool that OpenAI defines and the client runs. */
function parseOwnCall(item: Fields, warnings: Warnings): ToolCallPart[] | undefined {
  const call = clientCall(item.value)
  if (!call) return undefined
  const id = item.text('call_id') || item.text('id') || warnings.refuse(item.path('call_id'), 'is required.')
  const part = { ...call, id }
  warnings.place(part, item.at)
  return [part]
}

/** A message of the assistant: a string, or parts that were output; clients send them as input, too. */
function parseSaid(item: Fields, warnings: Warnings): AssistantPart[] {
  const content = item.any('content')
  const phase = item.wish('phase', ['commentary', 'final_answer'])
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

/** One that only names what is stored at OpenAI cannot be passed on, and nothing else hangs on it. */
function parseThoughts(item: Fields, warnings: Warnings): AssistantPart[] {
  const part = parseThoughtInput(item.value)
  if (!part) warnings.dropped(item.at)
  return part ? [part] : []
}

function parseCall(item: Fields, namespaces: Namespaces, warnings: Warnings): ToolCallPart {
  const isFreeForm = item.text('type') === 'custom_tool_call'
  const id = item.text('call_id') || item.text('id') || warnings.refuse(item.path('call_id'), 'is required.')
  const given = item.text('name') || warnings.refuse(item.path('name'), 'is required.')
  const namespace = item.text('namespace')
  const plain = namespace === undefined ? given : plainName(namespace, given)
  const name = Object.hasOwn(namespaces, plain) ? plain : given // others name the namespace of what they have found
  const part: ToolCallPart = isFreeForm
    ? { type: 'tool-call', id, name, arguments: item.text('input') ?? '', isFreeForm }
    : { type: 'tool-call', id, name, arguments: argumentsText(item.any('arguments') ?? '') }
  item.ignore('id', 'status', 'caller')
  item.drop()
  warnings.place(part, item.at)
  return part
}

/** `web_search_call`, of a client or of a provider. What it opened or looked through is told as what it found. */
export function searchPart({ id, status, action }: { [name: string]: unknown }): ServerToolPart {
  const { query, queries, sources, url } = isObject(action) ? action : {}
  const first = Array.isArray(queries) ? queries[0] : undefined
  const asked = query ?? first
  const found = Array.isArray(sources) ? sources : [{ url }]
  return {
    type: 'server-tool',
    tool: 'web-search',
    id: typeof id === 'string' ? id : '',
    query: typeof asked === 'string' ? asked : '',
    ...(status === 'failed' && { error: 'unavailable' }),
    results: found.flatMap((source: unknown) =>
      isObject(source) && typeof source.url === 'string'
        ? [{ url: source.url, title: typeof source.title === 'string' ? source.title : '' }]
        : [],
    ),
  }
}

/** `image_generation_call` with its picture. */
export function imagePart({ result, output_format: format }: { [name: string]: unknown }): ImagePart | undefined {
  if (typeof result !== 'string' || result === '') return undefined
  const mediaType = `image/${typeof format === 'string' ? format : 'png'}`
  return { type: 'image', source: base64Source(mediaType, result) }
}
