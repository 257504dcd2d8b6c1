import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import { entriesOf, type Fields } from '../canonical/fields.ts'
import type { OutputFormat, RequestOptions } from '../canonical/request.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { jsonSchemaOf } from './schema-parse.ts'
import { parseThinking } from './thinking.ts'

/** `generationConfig`, and the few options beside it. */
export function parseOptions(body: Fields, config: Fields, warnings: Warnings): RequestOptions {
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

/** Free text, JSON, or JSON after a schema in one of Google's two languages. The newer `responseFormat` counts before the others. */
export function parseOutput(config: Fields, warnings: Warnings): OutputFormat | undefined {
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

/** `responseFormat`: the format of text in it. Those of pictures, sound and video are dropped with a warning. */
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
  return tier === 'standard' ? 'default' : body.wish('serviceTier', ['flex', 'priority'])
}

/** One voice out of Google's list. Several speakers, or a voice after a sample, are nobody else's. */
function parseSpeech(config: Fields, warnings: Warnings): RequestOptions['speech'] {
  const speech = config.fields('speechConfig')
  if (!speech) return undefined
  const voice = speech.fields('voiceConfig')?.fields('prebuiltVoiceConfig')?.text('voiceName')
  if (voice === undefined) warnings.refuse(speech.at, 'only one prebuilt voice can be passed on.')
  speech.drop()
  return { voice }
}
