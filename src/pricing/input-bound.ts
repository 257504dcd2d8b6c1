import { isObject, type JsonObject } from '../lib/json.ts'
import { countMaxTokens } from '../lib/text-tokens.ts'
import type { ModelReference } from '../protocols/providers/catalog-model.ts'
import { type Additions, countVendorToolTokens, modelAdditions, unknownAdditions } from './additions.ts'

/**
 * Returns an upper bound for the input tokens that the target counts for a request body of any format. Text and tools are counted by characters,
 * media by size; remote files and vendor tool results count as fixed numbers. Each model family adds its own tokens. Takes a few µs for a small body
 * and about 3 ms for 1 MB of text.
 */
export function boundInputTokens(body: JsonObject, { model }: ModelReference): number {
  const content = countContent(body)
  const { factor = 1, base, tools = 0, perTool = 0, schema = 0, citations = 0, ...others } = findAdditions(model)
  const { perReference = 0, image = TOKENS_PER_IMAGE } = others
  const added =
    base +
    (content.tools > 0 ? tools + content.tools * perTool : 0) +
    (content.hasSchema ? schema : 0) +
    (content.hasCitations ? citations : 0) +
    content.references * perReference +
    content.images * image
  return Math.ceil(content.text * factor + content.other + added)
}

function findAdditions(model: string): Additions {
  let modelFamily = families.get(model)
  if (!modelFamily) {
    const name = model.toLowerCase()
    modelFamily = modelAdditions.find(({ models }) => models.test(name)) ?? unknownAdditions
    if (families.size >= MAX_FAMILIES) families.clear()
    families.set(model, modelFamily)
  }
  return modelFamily
}

const families = new Map<string, Additions>()
const MAX_FAMILIES = 1_000

/** A body's content, independent of the model that counts it. */
interface BodyContent {
  /** Tokens of text. */
  text: number
  /** Tokens of media, encrypted state, and vendor tools. */
  other: number
  images: number
  tools: number
  references: number
  hasSchema: boolean
  hasCitations: boolean
}

/** A cache, because each attempt needs the same counts. */
const contents = new WeakMap<JsonObject, BodyContent>()

/** Returns whether the body was counted before, in which case counting it again costs nothing. */
export const isCounted = (body: JsonObject): boolean => contents.has(body)

function countContent(body: JsonObject): BodyContent {
  const cached = contents.get(body)
  if (cached) return cached
  const content: BodyContent = {
    ...{ text: 0, other: 0, images: 0, tools: 0, references: 0 },
    ...{ hasSchema: false, hasCitations: false },
  }
  addFields(body, content, { isJson: false, isRoot: true })
  contents.set(body, content)
  return content
}

interface ValueContext {
  /** Whether the value is within JSON that the model reads, including field names. */
  isJson: boolean
  isRoot?: boolean
  /** Whether the value is directly in an object whose name or type indicates an image. */
  isImage?: boolean
}

function addFields(
  object: JsonObject,
  content: BodyContent,
  { isJson, isRoot = false, ...context }: ValueContext,
): void {
  const isImageObject = typeof object.type === 'string' && IMAGE_WORD_PATTERN.test(object.type)
  const isImage = isImageObject || context.isImage === true
  for (const name in object) {
    const value = object[name]
    if (value === undefined || value === null || (isRoot && OPTION_FIELDS.has(name))) continue
    if (isJson) {
      content.text += countMaxTokens(name) + TOKENS_PER_FIELD
      if (name === '$ref') content.references++
    } else {
      if (SCHEMA_FIELDS.has(name) && isSchema(value)) content.hasSchema = true
      if (name === 'citations') content.hasCitations = true
      if (isRoot && SEARCH_FIELDS.has(name)) content.other += countVendorToolTokens({ type: 'web_search' })
      if (name === 'tools') addTools(value, content)
      if (name === 'toolConfig' && isObject(value)) addTools(value.tools, content) // tools in Bedrock's format
      if (typeof value === 'string' && addNonText(name, value, { object, content, isImage })) continue
    }
    addValue(value, content, {
      isJson: isJson || JSON_FIELDS.has(name),
      isImage: isImageObject || IMAGE_WORD_PATTERN.test(name),
    })
  }
}

function addValue(value: unknown, content: BodyContent, context: ValueContext): void {
  switch (typeof value) {
    case 'string':
      if (value.startsWith('data:')) addMedia(value.slice(5, 60), value.length, content)
      else content.text += countMaxTokens(value) + TOKENS_PER_TEXT_BYTE
      return
    case 'number':
    case 'boolean':
      content.text += TOKENS_PER_VALUE
      return
    case 'object':
      if (Array.isArray(value)) {
        for (const item of value) {
          if (isObject(item) && 'role' in item) content.text += TOKENS_PER_MESSAGE
          addValue(item, content, context)
        }
      } else if (isObject(value)) addFields(value, content, context)
  }
}

/** Counts a string that the model doesn't read as text: media, encrypted state, or a URL. Returns `false` if the string is something else. */
function addNonText(
  name: string,
  value: string,
  { object, content, isImage }: { object: JsonObject; content: BodyContent; isImage: boolean },
): boolean {
  if (ENCRYPTED_FIELDS.has(name)) {
    content.other += value.length * TOKENS_PER_ENCRYPTED_CHARACTER
    return true
  }
  if ((name === 'data' || name === 'bytes') && object.type !== 'text') {
    const type = [object.mimeType, object.mime_type, object.media_type, object.format].find(
      (item) => typeof item === 'string',
    )
    if (type?.startsWith('text/')) return false
    addMedia(type ?? '', value.length, content)
    return true
  }
  if (FILE_FIELDS.has(name) || (URL_FIELD_PATTERN.test(name) && /^(?:https?|gs|s3):/.test(value))) {
    if (isImage || IMAGE_WORD_PATTERN.test(name) || IMAGE_NAME_PATTERN.test(value)) content.images++
    else content.other += VIDEO_NAME_PATTERN.test(value) ? TOKENS_PER_REMOTE_VIDEO : TOKENS_PER_REMOTE_FILE
    return true
  }
  return false
}

/** Counts an image, audio clip, or file. `length` is the length of its base64 encoding. */
function addMedia(type: string, length: number, content: BodyContent): void {
  const kilobytes = (length * 3) / 4_000
  if (/pdf|document|msword|sheet|presentation/.test(type))
    content.other += TOKENS_PER_PDF + kilobytes * TOKENS_PER_PDF_KILOBYTE
  else if (/audio|wav|mp3|mpeg|ogg|flac|aac|m4a|opus|pcm/.test(type)) {
    content.other +=
      TOKENS_PER_AUDIO + kilobytes * (/wav|pcm/.test(type) ? TOKENS_PER_WAV_KILOBYTE : TOKENS_PER_AUDIO_KILOBYTE)
  } else if (/video|mp4|webm|quicktime/.test(type))
    content.other += TOKENS_PER_AUDIO + kilobytes * TOKENS_PER_AUDIO_KILOBYTE
  else if (/^text|json|xml|csv/.test(type)) content.text += (length * 3) / 4
  else content.images++
}

/** Counts the tools, and the vendor tools' tokens. The JSON of the client's own tools is counted elsewhere. */
function addTools(value: unknown, content: BodyContent): void {
  for (const tool of [value].flat()) {
    if (!isObject(tool)) continue
    const declarations = tool.functionDeclarations ?? tool.function_declarations
    content.tools += Array.isArray(declarations) ? declarations.length : 1
    content.other += countVendorToolTokens(tool)
  }
}

const isSchema = (value: unknown): boolean =>
  isObject(value) &&
  ('type' in value ? value.type !== 'text' : Object.keys(value).some((name) => /schema|format/i.test(name)))

/** Body fields that the model doesn't read. */
const OPTION_FIELDS = new Set([
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

/** Fields whose values the model reads as JSON, including field names. */
const JSON_FIELDS = new Set([
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

/** Body fields that enable web search without a tool. */
const SEARCH_FIELDS = new Set(['web_search_options', 'search_parameters'])

/** Fields that may contain the schema of the response. */
const SCHEMA_FIELDS = new Set([
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

/** State that the vendor has encrypted, such as reasoning. A token takes about four characters of base64. */
const ENCRYPTED_FIELDS = new Set([
  'encrypted_content',
  'signature',
  'thoughtSignature',
  'thought_signature',
  'redactedContent',
])
const TOKENS_PER_ENCRYPTED_CHARACTER = 0.25

const FILE_FIELDS = new Set(['file_id', 'fileId', 'fileUri', 'file_uri', 'cachedContent', 'cached_content'])
const IMAGE_WORD_PATTERN = /image/i
const URL_FIELD_PATTERN = /ur[li]$/i
const IMAGE_NAME_PATTERN = /\.(?:png|jpe?g|gif|webp|bmp)(?:[?#]|$)/i
const VIDEO_NAME_PATTERN = /youtu|\.(?:mp4|mov|webm|mpe?g|avi)(?:[?#]|$)/i

/** Token overhead for a string, a number, a JSON field, and a message. */
const TOKENS_PER_TEXT_BYTE = 0.3
const TOKENS_PER_VALUE = 1
const TOKENS_PER_FIELD = 0.3
const TOKENS_PER_MESSAGE = 3

/** The maximum number of tokens that most vendors count for an image of any size. */
const TOKENS_PER_IMAGE = 2_600
/** A PDF page counts as text and as an image. The numbers per kilobyte assume dense pages, audio at 16 kbit/s, and WAV at 16 kHz. */
const TOKENS_PER_PDF = 4_300
const TOKENS_PER_PDF_KILOBYTE = 150
const TOKENS_PER_AUDIO = 400
const TOKENS_PER_AUDIO_KILOBYTE = 16
const TOKENS_PER_WAV_KILOBYTE = 1.5
/** Assumed tokens for a file of unknown size that the provider stores or fetches. */
const TOKENS_PER_REMOTE_FILE = 20_000
const TOKENS_PER_REMOTE_VIDEO = 100_000
