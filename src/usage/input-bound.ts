import { isObject, type JsonObject } from '../lib/json.ts'
import type { ModelAt } from '../providers/catalog-model.ts'
import { type Additions, additions, unknownAdditions, vendorToolTokens } from './additions.ts'
import { mostTokens } from './text-tokens.ts'

/**
 * At least as many tokens of input as the target counts for the body of a request, in whatever format: texts and tools by their characters,
 * media by their size, and what the models of its family add. What is not in the body cannot be known: files that are named by id or address
 * and the results of the vendor's tools count by fixed figures. A few µs for a small body, about 3 ms for a megabyte of text.
 */
export function inputBound(body: JsonObject, { model }: ModelAt): number {
  const content = contentOf(body)
  const { times = 1, base, tools = 0, perTool = 0, schema = 0, citations = 0, ...more } = familyOf(model)
  const { perReference = 0, image = IMAGE } = more
  const added =
    base +
    (content.tools > 0 ? tools + content.tools * perTool : 0) +
    (content.hasSchema ? schema : 0) +
    (content.hasCitations ? citations : 0) +
    content.references * perReference +
    content.images * image
  return Math.ceil(content.text * times + content.other + added)
}

/** The additions of a model, found once for each name. */
function familyOf(model: string): Additions {
  let found = families.get(model)
  if (!found) {
    const name = model.toLowerCase()
    found = additions.find(({ models }) => models.test(name)) ?? unknownAdditions
    if (families.size >= MAX_FAMILIES) families.clear()
    families.set(model, found)
  }
  return found
}

const families = new Map<string, Additions>()
const MAX_FAMILIES = 1_000

/** The content of a body, independent of the model that counts it. */
interface BodyContent {
  /** The tokens of its texts. */
  text: number
  /** The tokens of media, of sealed state, and of the vendor's tools. */
  other: number
  images: number
  tools: number
  references: number
  hasSchema: boolean
  hasCitations: boolean
}

/** Each target of a request, and each attempt, asks again. */
const contents = new WeakMap<JsonObject, BodyContent>()

/** Has the input of the body been bounded before? Then it costs nothing to do so again. */
export const isMeasured = (body: JsonObject): boolean => contents.has(body)

function contentOf(body: JsonObject): BodyContent {
  const known = contents.get(body)
  if (known) return known
  const content: BodyContent = {
    ...{ text: 0, other: 0, images: 0, tools: 0, references: 0 },
    ...{ hasSchema: false, hasCitations: false },
  }
  addMembers(body, content, { isJson: false, isRoot: true })
  contents.set(body, content)
  return content
}

/** Where a value stands: within JSON that the model reads as such, with the names of its members; or in the body itself. */
interface ValuePlace {
  isJson: boolean
  isRoot?: boolean
  /** Directly within a part of the body that is an image, by its name or its type. */
  isImage?: boolean
}

function addMembers(object: JsonObject, content: BodyContent, { isJson, isRoot = false, ...place }: ValuePlace): void {
  const isOfImage = typeof object.type === 'string' && IMAGE_WORD.test(object.type)
  const isImage = isOfImage || place.isImage === true
  for (const name in object) {
    const value = object[name]
    if (value === undefined || value === null || (isRoot && OPTIONS.has(name))) continue
    if (isJson) {
      content.text += mostTokens(name) + MEMBER
      if (name === '$ref') content.references++
    } else {
      if (SCHEMAS.has(name) && isSchema(value)) content.hasSchema = true
      if (name === 'citations') content.hasCitations = true
      if (isRoot && SEARCHES.has(name)) content.other += vendorToolTokens({ type: 'web_search' })
      if (name === 'tools') addTools(value, content)
      if (name === 'toolConfig' && isObject(value)) addTools(value.tools, content) // Bedrock's
      if (typeof value === 'string' && addSpecial(name, value, { object, content, isImage })) continue
    }
    addValue(value, content, { isJson: isJson || JSONS.has(name), isImage: isOfImage || IMAGE_WORD.test(name) })
  }
}

function addValue(value: unknown, content: BodyContent, place: ValuePlace): void {
  switch (typeof value) {
    case 'string':
      if (value.startsWith('data:')) addMedium(value.slice(5, 60), value.length, content)
      else content.text += mostTokens(value) + TEXT
      return
    case 'number':
    case 'boolean':
      content.text += VALUE
      return
    case 'object':
      if (Array.isArray(value)) {
        for (const one of value) {
          if (isObject(one) && 'role' in one) content.text += MESSAGE
          addValue(one, content, place)
        }
      } else if (isObject(value)) addMembers(value, content, place)
  }
}

/** Counts a string that the model does not read as text: a medium, sealed state or an address. Returns whether it was one. */
function addSpecial(
  name: string,
  value: string,
  { object, content, isImage }: { object: JsonObject; content: BodyContent; isImage: boolean },
): boolean {
  if (SEALED.has(name)) {
    content.other += value.length * SEALED_CHARACTER
    return true
  }
  if ((name === 'data' || name === 'bytes') && object.type !== 'text') {
    const type = [object.mimeType, object.mime_type, object.media_type, object.format].find(
      (one) => typeof one === 'string',
    )
    if (type?.startsWith('text/')) return false
    addMedium(type ?? '', value.length, content)
    return true
  }
  if (FILES.has(name) || (ADDRESSES.test(name) && /^(?:https?|gs|s3):/.test(value))) {
    if (isImage || IMAGE_WORD.test(name) || IMAGE_NAME.test(value)) content.images++
    else content.other += VIDEO_NAME.test(value) ? VIDEO_ELSEWHERE : FILE_ELSEWHERE
    return true
  }
  return false
}

/** `length`: of its base64. */
function addMedium(type: string, length: number, content: BodyContent): void {
  const kilobytes = (length * 3) / 4_000
  if (/pdf|document|msword|sheet|presentation/.test(type)) content.other += PDF + kilobytes * PDF_KILOBYTE
  else if (/audio|wav|mp3|mpeg|ogg|flac|aac|m4a|opus|pcm/.test(type)) {
    content.other += AUDIO + kilobytes * (/wav|pcm/.test(type) ? WAV_KILOBYTE : AUDIO_KILOBYTE)
  } else if (/video|mp4|webm|quicktime/.test(type)) content.other += AUDIO + kilobytes * AUDIO_KILOBYTE
  else if (/^text|json|xml|csv/.test(type)) content.text += (length * 3) / 4
  else content.images++
}

/** The client's own tools are counted by their JSON; here only how many there are, and what the vendor's bring. */
function addTools(value: unknown, content: BodyContent): void {
  for (const tool of [value].flat()) {
    if (!isObject(tool)) continue
    const declared = tool.functionDeclarations ?? tool.function_declarations
    content.tools += Array.isArray(declared) ? declared.length : 1
    content.other += vendorToolTokens(tool)
  }
}

const isSchema = (value: unknown): boolean =>
  isObject(value) &&
  ('type' in value ? value.type !== 'text' : Object.keys(value).some((name) => /schema|format/i.test(name)))

/** Members of the body that the model does not read. */
const OPTIONS = new Set([
  ...[
    'model',
    'stream',
    'stream_options',
    'temperature',
    'top_p',
    'seed',
    'metadata',
    'store',
    'include',
    'user',
    'service_tier',
  ],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'prompt_cache_key', 'safety_identifier'],
])

/** Members whose values the model reads as JSON, names included. */
const JSONS = new Set([
  ...[
    'tools',
    'toolConfig',
    'functions',
    'response_format',
    'output_config',
    'outputConfig',
    'output_format',
    'schema',
  ],
  ...['generationConfig', 'generation_config', 'args', 'arguments', 'response', 'json', 'parameters', 'input_schema'],
])

/** Members of the body that let the vendor search the web, as a tool does elsewhere. */
const SEARCHES = new Set(['web_search_options', 'search_parameters'])

/** Members that may hold the schema of the answer. */
const SCHEMAS = new Set([
  ...[
    'response_format',
    'output_config',
    'outputConfig',
    'output_format',
    'text',
    'format',
    'generationConfig',
    'generation_config',
  ],
])

/** What the vendor has sealed, such as reasoning; a character of base64 stands for about a quarter of a token. */
const SEALED = new Set(['encrypted_content', 'signature', 'thoughtSignature', 'thought_signature', 'redactedContent'])
const SEALED_CHARACTER = 0.25

const FILES = new Set(['file_id', 'fileId', 'fileUri', 'file_uri', 'cachedContent', 'cached_content'])
const IMAGE_WORD = /image/i
const ADDRESSES = /ur[li]$/i
const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp|bmp)(?:[?#]|$)/i
const VIDEO_NAME = /youtu|\.(?:mp4|mov|webm|mpe?g|avi)(?:[?#]|$)/i

/** In tokens: what stands around a text, a number, a member of JSON, a message. */
const TEXT = 0.3
const VALUE = 1
const MEMBER = 0.3
const MESSAGE = 3

/** The most tokens of an image of any size at most vendors. */
const IMAGE = 2_600
/** A page as text and as image, and the pages that a kilobyte may hold; the same of sound at 16 kbit/s and of waves at 16 kHz. */
const PDF = 4_300
const PDF_KILOBYTE = 150
const AUDIO = 400
const AUDIO_KILOBYTE = 16
const WAV_KILOBYTE = 1.5
/** Files that the provider has or fetches, whose size is not known. */
const FILE_ELSEWHERE = 20_000
const VIDEO_ELSEWHERE = 100_000
