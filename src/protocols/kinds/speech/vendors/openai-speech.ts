import { isObject, type JsonObject, tryParseJson } from '../../../../lib/json.ts'
import { hasTokenCount, readTokenCount } from '../../../formats/canonical/canonical-values.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import type { PassThrough, StreamContent } from '../../kind-adapters.ts'
import {
  AUDIO_TYPES,
  createByteStream,
  createSpeechAdapter,
  getMappedVoice,
  type SpeechAdapter,
  type SpeechRequest,
  type SpeechVendor,
} from '../speech.ts'

/** Passes requests from OpenAI's clients through, but replaces mapped voices. */
export const passThrough: PassThrough<SpeechRequest> = {
  client: 'openai',
  path: () => '/audio/speech',
  getAddedFields(request, { target }) {
    const voice = getMappedVoice(request.voice, target)
    return voice === undefined ? {} : { voice }
  },
  createStream: ({ expectsEvents }) =>
    expectsEvents
      ? { framing: 'events', read: ({ data }) => readEvent(tryParseJson(data)) }
      : createByteStream((content) => content),
}

function readEvent(json: unknown): StreamContent<unknown> {
  if (!isObject(json)) return {}
  const error = readEmbeddedError(json.error)
  if (error) return { error, usage: readUsage(json.usage) }
  if (json.type === 'speech.audio.delta') return { chunks: [json.audio] }
  return json.type === 'speech.audio.done' ? { isLast: true, usage: readUsage(json.usage) } : {}
}

/** Reads OpenAI's token counts, or returns `undefined` if it reports none. */
export function readUsage(usage: unknown): StreamContent<unknown>['usage'] {
  if (!isObject(usage)) return undefined
  const inputTokens = readTokenCount(usage.input_tokens ?? usage.prompt_tokens)
  const outputTokens = readTokenCount(usage.output_tokens ?? usage.completion_tokens)
  return hasTokenCount(usage.input_tokens, usage.prompt_tokens, usage.output_tokens, usage.completion_tokens)
    ? { inputTokens, outputTokens }
    : undefined
}

const createAdapter = (
  vendor: Pick<SpeechVendor, 'name' | 'providers' | 'supports' | 'formats'>,
  defaultVoice?: string,
): SpeechAdapter => ({
  ...createSpeechAdapter({
    ...vendor,
    fallbackFormat: 'mp3',
    voice: undefined,
    writeRequest: (request, { voice = defaultVoice, format, target }) => ({
      path: '/audio/speech',
      body: writeOpenaiBody(request, { voice, format, model: target.model }),
    }),
  }),
  getContentType: (_, vendorType) => (vendorType?.startsWith('audio/') ? vendorType : undefined),
})

const mapToSameNames = (formats: readonly string[]) => Object.fromEntries(formats.map((format) => [format, format]))

const SPEECH_FORMATS = mapToSameNames(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])

/** https://platform.openai.com/docs/api-reference/audio/createSpeech. OpenAI requires a voice. */
export const openai: SpeechAdapter = {
  ...createAdapter(
    {
      name: 'openai',
      providers: ['openai', 'azure'],
      supports: ['instructions', 'speed'],
      formats: SPEECH_FORMATS,
    },
    'alloy',
  ),
  passThrough: [
    {
      ...passThrough,
      accepts: ({ format }) => SPEECH_FORMATS[format] !== undefined || AUDIO_TYPES[format] === undefined,
    },
  ],
}

/** All OpenAI-compatible servers. Few of them stream events, so the gateway creates the events and omits `stream_format`. */
export const openaiCompatible: SpeechAdapter = {
  ...createAdapter({
    name: 'compatible',
    supports: ['instructions', 'speed', 'language'],
    formats: mapToSameNames(Object.keys(AUDIO_TYPES)),
  }),
  passThrough: [
    { ...passThrough, accepts: ({ expectsEvents }) => !expectsEvents, getExcludedFields: () => ['stream_format'] },
  ],
}

/** Writes a body in OpenAI's format. */
export const writeOpenaiBody = (
  { input, instructions, speed, language }: SpeechRequest,
  { voice, format, model }: { voice: string | undefined; format: string; model: string },
): JsonObject => ({
  model,
  input,
  ...(voice !== undefined && { voice }),
  response_format: format,
  ...(instructions !== undefined && { instructions }),
  ...(speed !== undefined && { speed }),
  ...(language !== undefined && { language }),
})
