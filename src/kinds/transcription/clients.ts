import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { encodeUtf8, fromBase64 } from '../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { extensionOf, type FormFile } from '../../lib/multipart.ts'
import type { ClientForm, WriteTerms } from '../forms.ts'
import { secondsOf } from '../sound/length.ts'
import { languageName, segmentsOf, srtOf, vttOf, withLetters } from './segments.ts'
import { FORMATS, type Hearing, type Transcript, type TranscriptPiece } from './transcription.ts'

const KNOWN: ReadonlySet<string> = new Set([
  ...['model', 'file', 'input_audio', 'language', 'prompt', 'keywords', 'response_format', 'timestamp_granularities'],
  ...['temperature', 'stream'],
])

const clientOf = (task: Hearing['task']): ClientForm<Hearing, Transcript, TranscriptPiece> => ({
  read(body, { files, warnings }) {
    const { response_format: format = 'json', stream } = body
    const known = FORMATS.find((one) => one === format)
    if (!known) return warnings.refuse('response_format', `must be one of ${FORMATS.join(', ')}.`)
    const text = (name: string): string | undefined => {
      const value = body[name] ?? undefined
      return value === undefined || typeof value === 'string' ? value : warnings.refuse(name, 'must be a text.')
    }
    return {
      file: fileIn(body, files, warnings),
      task,
      format: known,
      language: text('language'),
      prompt: text('prompt'),
      keywords: textsIn(body, 'keywords', warnings),
      granularities: textsIn(body, 'timestamp_granularities', warnings),
      temperature: temperatureIn(body.temperature, warnings),
      isStream: stream === true || /^true$/i.test(String(stream)),
      isForm: files.length > 0,
      others: Object.keys(body).filter((name) => !KNOWN.has(name) && body[name] !== null),
    }
  },
  wholeType: ({ format }) =>
    format === 'text' || format === 'srt' || format === 'vtt' ? 'text/plain' : 'application/json',
  write: (given, terms) => written(given, terms),
  stream(asked) {
    if (!asked.isStream) return undefined
    return {
      isEvents: true,
      type: () => 'text/event-stream',
      piece: (piece) =>
        'delta' in piece
          ? event({ type: 'transcript.text.delta', delta: piece.delta })
          : event({
              type: 'transcript.text.done',
              text: piece.done.text,
              ...(piece.done.usage && { usage: usageOf(piece.done.usage) }),
            }),
      end: () => undefined,
      whole: (given) => [...(given.text === '' ? [] : [{ delta: given.text }]), { done: given }],
    }
  },
})

/** What clients of transcription send and read. */
export const clients = { openai: clientOf('transcribe'), 'openai-translation': clientOf('translate') }

const event = (json: JsonObject) => encodeUtf8(`data: ${JSON.stringify(json)}\n\n`)

function written(given: Transcript, { asked, lost }: WriteTerms<Hearing>): JsonObject | string {
  const { text, usage, language, words } = given
  const seconds = given.duration ?? usage?.units?.second ?? secondsOf(asked.file.bytes)
  const shared = { ...(usage && { usage: usageOf(usage) }) }
  const segments = segmentsOf(given, seconds)
  switch (asked.format) {
    case 'json':
      return { text, ...shared }
    case 'text':
      return `${text}\n`
    case 'srt':
      return srtOf(segments)
    case 'vtt':
      return vttOf(segments)
    case 'diarized_json':
      return {
        task: 'transcribe',
        duration: seconds ?? segments.at(-1)?.end ?? 0,
        text,
        segments: withLetters(segments).map(({ start, end, text: said, speaker }, at) => ({
          type: 'transcript.text.segment',
          id: `seg_${at}`,
          start,
          end,
          text: said,
          speaker,
        })),
        ...shared,
      }
    case 'verbose_json': {
      const wantsWords = asked.granularities.includes('word')
      if (wantsWords && !words) lost.noteDropped('timestamp_granularities')
      const wantsSegments = !wantsWords || asked.granularities.includes('segment')
      return {
        task: asked.task,
        language: languageName(language ?? asked.language ?? ''),
        duration: seconds ?? segments.at(-1)?.end ?? 0,
        text,
        ...(wantsWords && words && { words: words.map(({ word, start, end }) => ({ word: word.trim(), start, end })) }),
        ...(wantsSegments && { segments: segments.map(detailed) }),
        ...shared,
      }
    }
  }
}

/** With the members of OpenAI's clients that no other vendor has. */
const detailed = ({ start, end, text }: { start: number; end: number; text: string }, id: number) => ({
  id,
  seek: 0,
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
})

function usageOf({ inputTokens, outputTokens, units }: TokenUsage): JsonObject {
  if (inputTokens + outputTokens === 0) return { type: 'duration', seconds: units?.second ?? 0 }
  return {
    type: 'tokens',
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}

/** The file of a form, or sound in base64 as OpenRouter's clients send it. */
function fileIn({ input_audio: audio }: JsonObject, files: readonly FormFile[], warnings: Warnings): Hearing['file'] {
  const [file, second] = files.filter(({ name }) => name === 'file')
  if (second) return warnings.refuse('file', 'is given more than once.')
  if (file) {
    if (file.bytes.length === 0) return warnings.refuse('file', 'is empty.')
    const { bytes, type, fileName = `audio.${extensionOf(type || 'audio/mpeg')}` } = file
    return { bytes, type: soundType(type, fileName), fileName }
  }
  if (!isObject(audio))
    return warnings.refuse('file', 'is required: a file of sound in a form, or "input_audio" with "data" and "format".')
  const { data, format = 'mp3' } = audio
  if (typeof data !== 'string' || data === '') return warnings.refuse('input_audio.data', 'must be sound in base64.')
  if (typeof format !== 'string' || !/^[a-z\d]{2,8}$/.test(format))
    return warnings.refuse('input_audio.format', 'must be the extension of a file, such as "mp3".')
  const fileName = `audio.${format}`
  try {
    return { bytes: fromBase64(data), type: soundType('', fileName), fileName }
  } catch {
    return warnings.refuse('input_audio.data', 'must be sound in base64.')
  }
}

/** The media type of sound: its own, or that of the extension. */
export function soundType(type: string, fileName: string): string {
  if (/^(?:audio|video)\//.test(type)) return type
  const extension = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
  return TYPES[extension] ?? `audio/${/^[a-z\d]{2,5}$/.test(extension) ? extension : 'mpeg'}`
}

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  mpga: 'audio/mpeg',
  m4a: 'audio/mp4',
  mp4: 'audio/mp4',
}

function textsIn(body: JsonObject, name: string, warnings: Warnings): string[] {
  const value = body[name] ?? []
  const list = Array.isArray(value) ? value : [value]
  return list.map((one) => (typeof one === 'string' ? one : warnings.refuse(name, 'must be a list of texts.')))
}

export function temperatureIn(value: unknown, warnings: Warnings): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && number >= 0 && number <= 1) return number
  return warnings.refuse('temperature', 'must be a number from 0 to 1.')
}
