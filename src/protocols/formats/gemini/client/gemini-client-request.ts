import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields, readObjectList } from '../../canonical/canonical-fields.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../../canonical/canonical-request.ts'
import type { Turn } from '../../canonical/canonical-turns.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { recordFieldNames, type Warnings } from '../../canonical/canonical-warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { toDetail } from '../gemini-media.ts'
import { parseThinking } from '../gemini-reasoning.ts'
import { parseContents, parseSystem } from './gemini-client-conversation.ts'
import { toJsonSchema } from './gemini-client-schema.ts'
import { toCamelCase } from './gemini-client-spelling.ts'
import { parseToolChoice, parseTools } from './gemini-client-tools.ts'

/** Parses a client's `generateContent` request. The URL path contains the model and determines whether to stream. */
export function parseRequest(json: JsonObject, { warnings, route }: ParseContext): CanonicalRequest {
  const spelling = new Map<string, string>()
  const body = readFields(toCamelCase(json, spelling), '', warnings)
  warnings.setSpelling(spelling)
  recordFieldNames(json, FIELD_SYNONYMS, warnings)
  rejectServerState(body, warnings)
  const config = body.fields('generationConfig') ?? readFields({}, 'generationConfig', warnings)
  const stream = route?.stream ?? false
  const contents = body.any('contents')
  if (contents === undefined || (Array.isArray(contents) && contents.length === 0))
    warnings.reject('contents', 'is required.')
  const conversation = parseContents(body, warnings)
  const turns = addDefaultDetail([...parseSystem(body, warnings), ...conversation], config, warnings)
  const toolChoice = parseToolChoice(body, warnings)
  const tools = parseTools(body, toolChoice, warnings)
  const request = omitUndefined<CanonicalRequest>({
    model: route?.model ?? (body.string('model') ?? '').replace(/^models\//, ''),
    stream,
    streamUsage: stream,
    turns,
    tools,
    toolChoice,
    output: parseOutput(config, warnings),
    options: parseOptions(body, config, warnings),
    client: route?.isArray ? { isArray: true } : undefined,
  })
  body.ignore('model')
  config.dropUnread()
  body.dropUnread()
  return request
}

function rejectServerState(body: Fields, warnings: Warnings) {
  if (body.any('cachedContent') !== undefined)
    warnings.reject(
      'cachedContent',
      'content cached at Google cannot be sent to another provider. Send the full contents.',
    )
  if (body.any('continuationToken') !== undefined)
    warnings.reject('continuationToken', 'a response can only be continued by the provider that started it.')
}

/** Applies the default media resolution to images that don't set their own. */
function addDefaultDetail(turns: readonly Turn[], config: Fields, warnings: Warnings): Turn[] {
  const resolution = config.string('mediaResolution')
  if (resolution === undefined) return [...turns]
  const path = config.getPath('mediaResolution')
  const detail = toDetail(resolution)
  const parts = turns.flatMap((turn) => (turn.role === 'user' ? turn.content : []))
  const images = parts.filter((part) => part.type === 'image' && part.detail === undefined)
  if (!detail || images.length < parts.filter(({ type }) => type !== 'text').length) warnings.recordDrop(path)
  for (const image of detail ? images : []) {
    Object.assign(image, { detail })
    warnings.setPath(image, warnings.getPath(image, 'contents'), { detail: `/${path}` })
  }
  return [...turns]
}

const FIELD_SYNONYMS = {
  output: [
    'generationConfig.responseFormat',
    'generationConfig.responseSchema',
    'generationConfig.responseJsonSchema',
    'generationConfig.responseMimeType',
  ],
}

/** Parses a client's `countTokens`: bare contents, or an entire request in a field. */
export function parseCountRequest(json: JsonObject, context: ParseContext): CanonicalRequest {
  const { generateContentRequest: fullRequest } = toCamelCase(json)
  return parseRequest(isObject(fullRequest) ? fullRequest : json, context)
}

function parseOptions(body: Fields, config: Fields, warnings: Warnings): RequestOptions {
  const thinking = config.fields('thinkingConfig')
  return omitUndefined<RequestOptions>({
    candidates: config.number('candidateCount'),
    frequencyPenalty: config.number('frequencyPenalty'),
    labels: body.stringsByName('labels'),
    logprobs: parseLogprobs(config),
    maxOutputTokens: config.number('maxOutputTokens'),
    modalities: parseModalities(config, warnings),
    presencePenalty: config.number('presencePenalty'),
    reasoning: thinking && parseThinking(thinking),
    seed: config.number('seed'),
    serviceTier: parseTier(body),
    speech: parseSpeech(config, warnings),
    stop: config.strings('stopSequences'),
    store: body.boolean('store'),
    temperature: config.number('temperature'),
    topK: config.number('topK'),
    topP: config.number('topP'),
  })
}

/** Parses the output format. Its schema is in one of Google's two schema languages. The newer `responseFormat` takes precedence. */
function parseOutput(config: Fields, warnings: Warnings): OutputFormat | undefined {
  const textFormat = parseTextFormat(config, warnings)
  if (textFormat) {
    const output = toOutputFormat(textFormat.object('schema'), textFormat, 'mimeType', warnings)
    textFormat.dropUnread()
    return output
  }
  const olderSchema = config.object('responseSchema')
  const schema =
    config.object('responseJsonSchema') ??
    config.object('_responseJsonSchema') ??
    (olderSchema && toJsonSchema(olderSchema))
  return toOutputFormat(schema, config, 'responseMimeType', warnings)
}

/** Parses `responseFormat` and uses the text format. Drops the image, audio, and video formats with a warning. */
function parseTextFormat(config: Fields, warnings: Warnings): Fields | undefined {
  const formats = readObjectList(config, 'responseFormat', warnings).map((format) => {
    const text = format.fields('text')
    format.dropUnread()
    return text
  })
  return formats.find((text) => text !== undefined)
}

function toOutputFormat(
  schema: JsonObject | undefined,
  fields: Fields,
  name: string,
  warnings: Warnings,
): OutputFormat | undefined {
  const mediaType = fields.string(name)?.toLowerCase().replace('_', '/') // Google's enums are words such as APPLICATION_JSON
  if (mediaType === 'text/plain' || (mediaType === undefined && !schema)) return undefined
  if (mediaType !== undefined && mediaType !== 'application/json')
    warnings.reject(fields.getPath(name), 'must be "text/plain" or "application/json".')
  return schema ? { type: 'json-schema', schema } : { type: 'json' }
}

function parseLogprobs(config: Fields): number | undefined {
  const topLogprobs = config.number('logprobs')
  return config.boolean('responseLogprobs') ? (topLogprobs ?? 0) : undefined
}

function parseModalities(config: Fields, warnings: Warnings): RequestOptions['modalities'] {
  const modalities = config.strings('responseModalities')?.map((modality) => modality.toLowerCase())
  if (!modalities || modalities.length === 0) return undefined
  return modalities.map((modality) =>
    modality === 'text' || modality === 'image' || modality === 'audio'
      ? modality
      : warnings.reject(config.getPath('responseModalities'), 'must be TEXT, IMAGE, or AUDIO.'),
  )
}

function parseTier(body: Fields): RequestOptions['serviceTier'] {
  const tier = body.string('serviceTier')
  if (tier === undefined || tier === 'unspecified') return undefined
  return tier === 'standard' ? 'default' : body.oneOfOrDrop('serviceTier', ['flex', 'priority'])
}

/** Parses a voice from Google's list. Multiple speakers and voices cloned from a sample aren't supported. */
function parseSpeech(config: Fields, warnings: Warnings): RequestOptions['speech'] {
  const speech = config.fields('speechConfig')
  if (!speech) return undefined
  const voice = speech.fields('voiceConfig')?.fields('prebuiltVoiceConfig')?.string('voiceName')
  if (voice === undefined) warnings.reject(speech.path, 'only one prebuilt voice is supported.')
  speech.dropUnread()
  return { voice }
}
