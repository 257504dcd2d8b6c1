import { gatewayError } from '../../errors.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import { concatBytes, fromBase64 } from '../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { entryOf } from '../../lib/maps.ts'
import { type ProviderTarget, targetName } from '../../providers/target.ts'
import type { SaidPieces, Used, VendorForm, VendorRequest, VendorStream } from '../forms.ts'
import { wavHeader } from '../sound/wav.ts'

/** A request for speech. */
export interface SpeechRequest {
  input: string
  voice: string | undefined
  /** OpenAI's word, or a vendor's own. */
  format: string
  /** Does the client read events? */
  isEvents: boolean
  /** Does the client take the sound as a whole, in JSON? */
  isWhole?: true
  instructions: string | undefined
  /** From 0.25 to 4. */
  speed: number | undefined
  language: string | undefined
  /** The names of the other members. */
  others: readonly string[]
}

/** A whole answer. */
export interface Speech extends Used {
  audio: Uint8Array
}

/** A piece of sound as it is sent: all of them in their order are a file. */
export type SoundPiece = Uint8Array

export type SpeechForm = VendorForm<SpeechRequest, Speech, SoundPiece>

/** The formats of sound that OpenAI's clients ask for, and what files of them are. */
export const SOUND_TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  ogg: 'audio/ogg',
  mulaw: 'audio/basic',
}

/** The names of OpenAI's voices, which mean nothing to other vendors. */
const OPENAI_VOICES: ReadonlySet<string> = new Set(
  'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' '),
)

/** The names of Google's, likewise. */
const GOOGLE_VOICES: ReadonlySet<string> = new Set(
  (
    'achernar achird algenib algieba alnilam aoede autonoe callirrhoe charon despina enceladus erinome fenrir gacrux iapetus kore laomedeia leda orus ' +
    'puck pulcherrima rasalgethi sadachbia sadaltager schedar sulafat umbriel vindemiatrix zephyr zubenelgenubi'
  ).split(' '),
)

/** Is it the name of a voice of another vendor? `own`: the default voice of this one; without one it knows OpenAI's names. */
function isForeign(voice: string, own: string | undefined): boolean {
  if (own !== undefined && OPENAI_VOICES.has(voice)) return true
  return !GOOGLE_VOICES.has((own ?? '').toLowerCase()) && GOOGLE_VOICES.has(voice.toLowerCase())
}

/** The voice that the owner of the connection, or of the combo, has set in place of this one. */
export function mappedVoice(voice: string | undefined, target: ProviderTarget): string | undefined {
  const own = entryOf(target.voices ?? {}, voice ?? '') ?? entryOf(voicesOf(target) ?? {}, voice ?? '')
  return typeof own === 'string' ? own : undefined
}

const voicesOf = ({ connection }: ProviderTarget) => connection.providerSpecificData?.voices

/** The properties of a vendor of speech, from which `speechForm` makes its form. */
export interface SpeechVendor
  extends Pick<SpeechForm, 'name' | 'providers' | 'isOf' | 'baseUrl' | 'base' | 'keyHeader' | 'usageIn' | 'errorIn'> {
  /** Its words for formats, by OpenAI's. A WAV file is made here of `pcm` (24 kHz) where it has no `wav`. */
  formats: Readonly<Record<string, string>>
  /** The format in place of those that it does not have, by OpenAI's word. Raw samples are never replaced: they are refused. */
  otherwise: 'mp3' | 'wav'
  /** The voice in place of OpenAI's, where no other one is set; `undefined`: it knows OpenAI's. */
  voice: string | undefined
  /** The fields that it takes besides. */
  takes: ReadonlyArray<'instructions' | 'speed' | 'language'>
  /** Writes a request, with the vendor's own words for its voice and format. */
  request(
    asked: SpeechRequest,
    own: { voice: string | undefined; format: string; target: ProviderTarget },
  ): VendorRequest
  /** Reads an event of its stream; `undefined`, where it answers in bytes, or whole (`answer`). */
  event?(json: JsonObject): SaidPieces<Uint8Array>
  /** Are its events streamed only where the client reads events, too? */
  streamsEventsOnly?: true
  /** Reads an answer that is JSON; what it lacks, if it is none. */
  answer?(json: JsonObject): Speech | string
}

/** The sample rate of raw samples everywhere here, in Hz. */
export const RATE = 24_000

/** The form of a vendor of speech. */
export function speechForm(vendor: SpeechVendor): SpeechForm {
  const { formats, otherwise, takes, answer, event, streamsEventsOnly, request, voice: _, ...form } = vendor

  /** The format in which the client gets the sound. */
  const given = ({ format }: SpeechRequest) =>
    formats[format] !== undefined || (format === 'wav' && formats.pcm !== undefined) ? format : otherwise
  const needsHeader = (asked: SpeechRequest) => given(asked) === 'wav' && formats.wav === undefined

  return {
    ...form,
    ...(!answer && { bytesAs: 'sound' }),
    request(asked, { target, warnings }) {
      const format = given(asked)
      if (format !== asked.format) {
        if (asked.format === 'pcm' || SOUND_TYPES[asked.format] === undefined)
          throw gatewayError('FORMAT_MISMATCH', {
            message: `"response_format": ${targetName(target)} does not speak "${asked.format}". It has ${Object.keys(formats).join(', ')}.`,
            data: { param: 'response_format' },
          })
        warnings.noteChanged('response_format', 'replaced')
      }
      const taken = { ...asked }
      for (const field of ['instructions', 'speed', 'language'] as const) {
        if (asked[field] === undefined || takes.includes(field)) continue
        warnings.noteDropped(field)
        taken[field] = undefined
      }
      for (const name of asked.others) warnings.noteDropped(name)
      const voice = voiceFor(asked, vendor, { target, warnings })
      return request(taken, { voice, format: formats[needsHeader(asked) ? 'pcm' : format] ?? format, target })
    },
    type(asked, sent) {
      if (needsHeader(asked)) return SOUND_TYPES.wav ?? ''
      return sent?.startsWith('audio/') ? sent : (SOUND_TYPES[given(asked)] ?? 'application/octet-stream')
    },
    stream(asked) {
      const header = needsHeader(asked) ? [wavHeader(RATE)] : []
      const withHeader = (said: SaidPieces<Uint8Array>): SaidPieces<Uint8Array> => {
        const audio = said.pieces?.filter((piece) => piece.length > 0) ?? []
        return { ...said, pieces: audio.length > 0 ? [...header.splice(0), ...audio] : [] }
      }
      if (asked.isWhole) return undefined
      if (!event) return answer ? undefined : bytesOfSound(withHeader)
      if (streamsEventsOnly && !asked.isEvents) return undefined
      return {
        of: 'events',
        read({ data }) {
          const json = tryObject(data)
          return json ? withHeader(event(json)) : {}
        },
      }
    },
    answer(json, asked) {
      const speech = (answer ?? soundIn)(json)
      if (typeof speech === 'string') return speech
      if (speech.audio.length === 0) return 'sound'
      if (!needsHeader(asked)) return speech
      return { ...speech, audio: concatBytes([wavHeader(RATE, speech.audio.length), speech.audio]) }
    },
  }
}

/** Sound in bytes that has been read as a whole. */
function soundIn({ sound, type }: JsonObject): Speech | string {
  return typeof sound === 'string' && typeof type === 'string' && BASE64.test(sound)
    ? { audio: fromBase64(sound) }
    : 'sound'
}

const BASE64 = /^[\w+/]+={0,2}$/

/** A stream of bytes that are sound, unless its content type says that it is text. */
export const bytesOfSound = (
  read: (said: SaidPieces<Uint8Array>) => SaidPieces<Uint8Array>,
): VendorStream<Uint8Array> => ({
  of: 'bytes',
  isOwn: (contentType) => !/json|html|text|xml|event-stream/.test(contentType),
  read: (bytes) => read({ pieces: [bytes] }),
})

/** The voice for a vendor: that which is set for the one of the client, its own, or its default in place of OpenAI's. */
function voiceFor(
  { voice }: SpeechRequest,
  vendor: SpeechVendor,
  { target, warnings }: { target: ProviderTarget; warnings: Warnings },
): string | undefined {
  const mapped = mappedVoice(voice, target)
  if (mapped !== undefined) return mapped
  const { voice: own } = vendor
  if (voice === undefined) return own
  if (!isForeign(voice, own)) return voice
  warnings.noteChanged('voice', 'replaced')
  return own ?? 'alloy'
}

/** What a request has used that is charged by its characters, which are code points. */
export const charactersOf = ({ input }: { input: string }): number => [...input].length

/** The usage that a header reports, which is a number of characters. */
export const charactersIn =
  (name: string): NonNullable<SpeechForm['usageIn']> =>
  (header) => {
    const count = Number(header(name) ?? Number.NaN)
    return Number.isFinite(count) && count >= 0
      ? { inputTokens: 0, outputTokens: 0, units: { character: count } }
      : undefined
  }

function tryObject(data: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(data)
    return isObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
