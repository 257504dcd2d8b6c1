import { gatewayError } from '../../../errors.ts'
import { concatBytes, fromBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import { getTargetName, type ProviderTarget } from '../../providers/target.ts'
import type { KindResponse, StreamContent, VendorAdapter, VendorRequest, VendorStream } from '../kind-adapters.ts'
import { writeWavHeader } from '../sound/wav.ts'

/** A speech request, independent of the client's format. */
export interface SpeechRequest {
  input: string
  voice: string | undefined
  /** The audio format: OpenAI's name for it, or a vendor's own. */
  format: string
  /** Whether the client reads events. */
  expectsEvents: boolean
  /** Set if the client expects all audio in one JSON response. */
  expectsCompleteAudio?: true
  instructions: string | undefined
  /** The speed, from 0.25 to 4. */
  speed: number | undefined
  language: string | undefined
  /** The names of all other fields. */
  otherFieldNames: readonly string[]
}

/** A complete speech response. */
export interface SpeechResponse extends KindResponse {
  audio: Uint8Array
}

/** A piece of an audio file. Joined in order, the pieces form the file. */
export type AudioChunk = Uint8Array

export type SpeechAdapter = VendorAdapter<SpeechRequest, SpeechResponse, AudioChunk>

/** The media types of the audio formats that OpenAI's clients request. */
export const AUDIO_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  ogg: 'audio/ogg',
  mulaw: 'audio/basic',
}

/** Voices that only OpenAI has. */
const OPENAI_VOICES: ReadonlySet<string> = new Set(
  'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' '),
)

const GOOGLE_VOICES: ReadonlySet<string> = new Set(
  (
    'achernar achird algenib algieba alnilam aoede autonoe callirrhoe charon despina enceladus erinome fenrir gacrux iapetus kore laomedeia leda orus ' +
    'puck pulcherrima rasalgethi sadachbia sadaltager schedar sulafat umbriel vindemiatrix zephyr zubenelgenubi'
  ).split(' '),
)

/** Returns whether a voice belongs to another vendor. `vendorVoice` is this vendor's default voice; a vendor without one supports OpenAI's voices. */
export function isForeignVoice(voice: string, vendorVoice: string | undefined): boolean {
  if (vendorVoice !== undefined && OPENAI_VOICES.has(voice.toLowerCase())) return true
  return !GOOGLE_VOICES.has((vendorVoice ?? '').toLowerCase()) && GOOGLE_VOICES.has(voice.toLowerCase())
}

/** Returns the voice that the combo entry or the connection maps this voice to. */
export function getMappedVoice(voice: string | undefined, target: ProviderTarget): string | undefined {
  const mappedVoice = getEntry(target.voices ?? {}, voice ?? '') ?? getEntry(getVoices(target) ?? {}, voice ?? '')
  return typeof mappedVoice === 'string' ? mappedVoice : undefined
}

const getVoices = ({ connection }: ProviderTarget) => connection.providerSpecificData?.voices

/** The properties of a speech vendor. */
export interface SpeechVendor
  extends Pick<
    SpeechAdapter,
    'name' | 'providers' | 'matches' | 'baseUrl' | 'adaptBaseUrl' | 'keyHeader' | 'readHeaderUsage' | 'findError'
  > {
  /** The vendor's format names, by OpenAI's names. If `wav` is missing, the gateway creates WAV files from `pcm` (24 kHz). */
  formats: Readonly<Record<string, string>>
  /** The format that replaces unsupported ones, by OpenAI's name. Requests for raw samples are rejected instead. */
  fallbackFormat: 'mp3' | 'wav'
  /** The voice that replaces OpenAI's voices if no other is set; may depend on the model. `undefined` if the vendor supports OpenAI's voices. */
  voice: string | undefined | ((model: string) => string | undefined)
  /** The optional fields that the vendor supports. */
  supports: ReadonlyArray<'instructions' | 'speed' | 'language'>
  /** Writes a request. `settings` contains the vendor's names for the voice and the format. */
  writeRequest(
    request: SpeechRequest,
    settings: { voice: string | undefined; format: string; target: ProviderTarget; warnings: Warnings },
  ): VendorRequest
  /** Reads an event in the vendor's stream. If absent, the vendor responds in bytes, or with the complete response (`readResponse`). */
  readEvent?(json: JsonObject): StreamContent<Uint8Array>
  /** Set if the vendor only streams to clients that read events. */
  streamsEventsOnly?: true
  /** Reads a JSON response. If anything is missing, returns a description of it. */
  readResponse?(json: JsonObject): SpeechResponse | string
}

/** The sample rate of all raw audio, in Hz. */
export const SAMPLE_RATE = 24_000

/** Creates a speech vendor's adapter. */
export function createSpeechAdapter(vendor: SpeechVendor): SpeechAdapter {
  const { formats, fallbackFormat, supports, readResponse, readEvent, streamsEventsOnly, voice: _, ...adapter } = vendor

  // Returns the format that the client gets.
  const chooseFormat = ({ format }: SpeechRequest) =>
    formats[format] !== undefined || (format === 'wav' && formats.pcm !== undefined) ? format : fallbackFormat
  const needsHeader = (request: SpeechRequest) => chooseFormat(request) === 'wav' && formats.wav === undefined

  return {
    ...adapter,
    ...(!readResponse && { bytesField: 'sound' }),
    writeRequest(request, { target, warnings }) {
      const format = chooseFormat(request)
      if (format !== request.format) {
        if (request.format === 'pcm' || AUDIO_TYPES[request.format] === undefined)
          throw gatewayError('FORMAT_MISMATCH', {
            message: `"response_format": ${getTargetName(target)} does not support "${request.format}". It supports ${Object.keys(formats).join(', ')}.`,
            data: { param: 'response_format' },
          })
        warnings.recordChange('response_format', 'replaced')
      }
      const supportedRequest = { ...request }
      for (const field of ['instructions', 'speed', 'language'] as const) {
        if (request[field] === undefined || supports.includes(field)) continue
        warnings.recordDrop(field)
        supportedRequest[field] = undefined
      }
      for (const name of request.otherFieldNames) warnings.recordDrop(name)
      const voice = chooseVoice(request, vendor, { target, warnings })
      return vendor.writeRequest(supportedRequest, {
        voice,
        format: formats[needsHeader(request) ? 'pcm' : format] ?? format,
        target,
        warnings,
      })
    },
    getContentType(request, vendorType) {
      if (needsHeader(request)) return AUDIO_TYPES.wav ?? ''
      return vendorType?.startsWith('audio/')
        ? vendorType
        : (AUDIO_TYPES[chooseFormat(request)] ?? 'application/octet-stream')
    },
    createStream(request) {
      const header = needsHeader(request) ? [writeWavHeader(SAMPLE_RATE)] : []
      const addHeader = (content: StreamContent<Uint8Array>): StreamContent<Uint8Array> => {
        const audio = content.chunks?.filter((chunk) => chunk.length > 0) ?? []
        return { ...content, chunks: audio.length > 0 ? [...header.splice(0), ...audio] : [] }
      }
      if (request.expectsCompleteAudio) return undefined
      if (!readEvent) return readResponse ? undefined : createByteStream(addHeader)
      if (streamsEventsOnly && !request.expectsEvents) return undefined
      return {
        framing: 'events',
        read({ data }) {
          const json = tryParseObject(data)
          return json ? addHeader(readEvent(json)) : {}
        },
      }
    },
    readResponse(json, request) {
      const speech = (readResponse ?? readAudio)(json)
      if (typeof speech === 'string') return speech
      if (speech.audio.length === 0) return 'sound'
      if (!needsHeader(request)) return speech
      return { ...speech, audio: concatBytes([writeWavHeader(SAMPLE_RATE, speech.audio.length), speech.audio]) }
    },
  }
}

function readAudio({ sound, type }: JsonObject): SpeechResponse | string {
  return typeof sound === 'string' && typeof type === 'string' && BASE64_PATTERN.test(sound)
    ? { audio: fromBase64(sound) }
    : 'sound'
}

const BASE64_PATTERN = /^[\w+/]+={0,2}$/

/** Creates a reader for a byte stream. A text content type indicates an error. */
export const createByteStream = (
  read: (content: StreamContent<Uint8Array>) => StreamContent<Uint8Array>,
): VendorStream<Uint8Array> => ({
  framing: 'bytes',
  acceptsType: (contentType) => !/json|html|text|xml|event-stream/.test(contentType),
  read: (bytes) => read({ chunks: [bytes] }),
})

/** Chooses the mapped voice, or else the client's voice if the vendor supports it, or else the vendor's default. */
function chooseVoice(
  { voice }: SpeechRequest,
  vendor: SpeechVendor,
  { target, warnings }: { target: ProviderTarget; warnings: Warnings },
): string | undefined {
  const mappedVoice = getMappedVoice(voice, target)
  if (mappedVoice !== undefined) return mappedVoice
  const defaultVoice = typeof vendor.voice === 'function' ? vendor.voice(target.model) : vendor.voice
  if (voice === undefined) return defaultVoice
  if (!isForeignVoice(voice, defaultVoice)) return voice
  warnings.recordChange('voice', 'replaced')
  return defaultVoice ?? 'alloy'
}

/** Counts the characters that vendors charge for, which are code points. */
export const countCharacters = ({ input }: { input: string }): number => [...input].length

/** Creates a reader for the response header that contains a character count. */
export const createCharacterReader =
  (name: string): NonNullable<SpeechAdapter['readHeaderUsage']> =>
  (header) => {
    const count = Number(header(name) ?? Number.NaN)
    return Number.isFinite(count) && count >= 0
      ? { inputTokens: 0, outputTokens: 0, units: { character: count } }
      : undefined
  }

function tryParseObject(data: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(data)
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
