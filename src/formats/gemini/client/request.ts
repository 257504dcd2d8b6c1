import { isObject, type JsonObject } from '../../../lib/json.ts'
import { entriesOf, type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat, RequestOptions } from '../../canonical/request.ts'
import type { Turn } from '../../canonical/turns.ts'
import { defined } from '../../canonical/values.ts'
import { noteNames, type Warnings } from '../../canonical/warnings.ts'
import type { ParseContext } from '../../translator.ts'
import { detailOf } from '../media.ts'
import { parseThinking } from '../reasoning.ts'
import { parseContents, parseSystem } from './conversation.ts'
import { jsonSchemaOf } from './schema.ts'
import { camelCased } from './spelling.ts'
import { parseToolChoice, parseTools } from './tools.ts'

/** Parses a client's request to generate content. Model and streaming are in its path. */
export function parseRequest(json: JsonObject, { warnings, route }: ParseContext): CanonicalRequest {
  const spelling = new Map<string, string>()
  const body = fieldsOf(camelCased(json, spelling), '', warnings)
  warnings.spell(spelling)
  noteNames(json, SYNONYMS, warnings)
  refuseStateAtGoogle(body, warnings)
  const config = body.fields('generationConfig') ?? fieldsOf({}, 'generationConfig', warnings)
  const stream = route?.stream ?? false
  const given = body.any('contents')
  if (given === undefined || (Array.isArray(given) && given.length === 0)) warnings.refuse('contents', 'is required.')
  const conversation = parseContents(body, warnings)
  const turns = withDetail([...parseSystem(body, warnings), ...conversation], config, warnings)
  const toolChoice = parseToolChoice(body, warnings)
  const tools = parseTools(body, toolChoice, warnings)
  const request = defined<CanonicalRequest>({
    model: route?.model ?? (body.text('model') ?? '').replace(/^models\//, ''),
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
  config.drop()
  body.drop()
  return request
}

/** Refuses state that only Google holds. */
function refuseStateAtGoogle(body: Fields, warnings: Warnings) {
  if (body.any('cachedContent') !== undefined)
    warnings.refuse('cachedContent', 'what is cached at Google cannot be passed on; send the contents.')
  if (body.any('continuationToken') !== undefined)
    warnings.refuse('continuationToken', 'an answer can only be continued by the one who began it.')
}

/** Gives each image without a resolution of its own the resolution of all media. */
function withDetail(turns: readonly Turn[], config: Fields, warnings: Warnings): Turn[] {
  const resolution = config.text('mediaResolution')
  if (resolution === undefined) return [...turns]
  const path = config.path('mediaResolution')
  const detail = detailOf(resolution)
  const parts = turns.flatMap((turn) => (turn.role === 'user' ? turn.content : []))
  const images = parts.filter((part) => part.type === 'image' && part.detail === undefined)
  if (!detail || images.length < parts.filter(({ type }) => type !== 'text').length) warnings.noteDropped(path)
  for (const image of detail ? images : []) {
    Object.assign(image, { detail })
    warnings.place(image, warnings.pathOf(image, 'contents'), { detail: `/${path}` })
  }
  return [...turns]
}

const SYNONYMS = {
  output: [
    'generationConfig.responseFormat',
    'generationConfig.responseSchema',
    'generationConfig.responseJsonSchema',
    'generationConfig.responseMimeType',
  ],
}

/** Parses a client's `countTokens`: the contents alone, or a whole request in a field. */
export function parseCountRequest(json: JsonObject, context: ParseContext): CanonicalRequest {
  const { generateContentRequest: whole } = camelCased(json)
  return parseRequest(isObject(whole) ? whole : json, context)
}

/** Parses `generationConfig`, and the few options beside it. */
function parseOptions(body: Fields, config: Fields, warnings: Warnings): RequestOptions {
  const thinking = config.fields('thinkingConfig')
  return defined<RequestOptions>({
    candidates: config.number('candidateCount'),
    frequencyPenalty: config.number('frequencyPenalty'),
    labels: body.textsByName('labels'),
    logprobs: parseLogprobs(config),
    maxOutputTokens: config.number('maxOutputTokens'),
    modalities: parseModalities(config, warnings),
    presencePenalty: config.number('presencePenalty'),
    reasoning: thinking && parseThinking(thinking),
    seed: config.number('seed'),
    serviceTier: parseTier(body),
    speech: parseSpeech(config, warnings),
    stop: config.texts('stopSequences'),
    store: body.flag('store'),
    temperature: config.number('temperature'),
    topK: config.number('topK'),
    topP: config.number('topP'),
  })
}

/**
 * Parses the output format: free text, JSON, or JSON by a schema in one of Google's two schema languages. The newer `responseFormat` takes
 * precedence.
 */
function parseOutput(config: Fields, warnings: Warnings): OutputFormat | undefined {
  const text = parseFormats(config, warnings)
  if (text) {
    const output = outputOf(text.object('schema'), text, 'mimeType', warnings)
    text.drop()
    return output
  }
  const older = config.object('responseSchema')
  const schema =
    config.object('responseJsonSchema') ?? config.object('_responseJsonSchema') ?? (older && jsonSchemaOf(older))
  return outputOf(schema, config, 'responseMimeType', warnings)
}

/** Parses `responseFormat`, of which the format of text is used. Those of pictures, sound and video are dropped with a warning. */
function parseFormats(config: Fields, warnings: Warnings): Fields | undefined {
  const formats = entriesOf(config, 'responseFormat', warnings).map((format) => {
    const text = format.fields('text')
    format.drop()
    return text
  })
  return formats.find((text) => text !== undefined)
}

function outputOf(
  schema: JsonObject | undefined,
  fields: Fields,
  name: string,
  warnings: Warnings,
): OutputFormat | undefined {
  const mediaType = fields.text(name)?.toLowerCase().replace('_', '/') // Google's enums are words such as APPLICATION_JSON
  if (mediaType === 'text/plain' || (mediaType === undefined && !schema)) return undefined
  if (mediaType !== undefined && mediaType !== 'application/json')
    warnings.refuse(fields.path(name), 'must be "text/plain" or "application/json".')
  return schema ? { type: 'json-schema', schema } : { type: 'json' }
}

function parseLogprobs(config: Fields): number | undefined {
  const top = config.number('logprobs')
  return config.flag('responseLogprobs') ? (top ?? 0) : undefined
}

function parseModalities(config: Fields, warnings: Warnings): RequestOptions['modalities'] {
  const asked = config.texts('responseModalities')?.map((modality) => modality.toLowerCase())
  if (!asked || asked.length === 0) return undefined
  return asked.map((modality) =>
    modality === 'text' || modality === 'image' || modality === 'audio'
      ? modality
      : warnings.refuse(config.path('responseModalities'), 'must be TEXT, IMAGE or AUDIO.'),
  )
}

function parseTier(body: Fields): RequestOptions['serviceTier'] {
  const tier = body.text('serviceTier')
  if (tier === undefined || tier === 'unspecified') return undefined
  return tier === 'standard' ? 'default' : body.wordOrDrop('serviceTier', ['flex', 'priority'])
}

/** Parses a voice of Google's list. Several speakers, or a voice from a sample, cannot be passed on. */
function parseSpeech(config: Fields, warnings: Warnings): RequestOptions['speech'] {
  const speech = config.fields('speechConfig')
  if (!speech) return undefined
  const voice = speech.fields('voiceConfig')?.fields('prebuiltVoiceConfig')?.text('voiceName')
  if (voice === undefined) warnings.refuse(speech.at, 'only one prebuilt voice can be passed on.')
  speech.drop()
  return { voice }
}
