import { encodeUtf8, fromBase64 } from '../../../lib/bytes.ts'
import { formatScalar, isObject, type JsonObject } from '../../../lib/json.ts'
import type { FormFile } from '../../../lib/multipart.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { ClientAdapter, ClientWriteContext } from '../kind-adapters.ts'
import { getDuration } from '../sound/audio-duration.ts'
import { normalizeRecording } from '../sound/file-type.ts'
import { FORMATS, type Transcript, type TranscriptChunk, type TranscriptionRequest } from './transcription.ts'
import { getLanguageName, getSegments, nameSpeakers, writeSrt, writeVtt } from './transcription-segments.ts'

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'file', 'input_audio', 'language', 'prompt', 'keywords', 'response_format', 'timestamp_granularities'],
  ...['temperature', 'stream'],
])

const createClient = (
  task: TranscriptionRequest['task'],
): ClientAdapter<TranscriptionRequest, Transcript, TranscriptChunk> => ({
  read(body, { files, warnings }) {
    const { response_format: format = 'json', stream } = body
    const knownFormat = FORMATS.find((candidate) => candidate === format)
    if (!knownFormat) return warnings.reject('response_format', `must be one of ${FORMATS.join(', ')}.`)
    const readString = (name: string): string | undefined => {
      const value = body[name] ?? undefined
      return value === undefined || typeof value === 'string' ? value : warnings.reject(name, 'must be a string.')
    }
    return {
      file: readFile(body, files, warnings),
      task,
      format: knownFormat,
      language: readString('language'),
      prompt: readString('prompt'),
      keywords: readStrings(body, 'keywords', warnings),
      granularities: readStrings(body, 'timestamp_granularities', warnings),
      temperature: readTemperature(body.temperature, warnings),
      isStream: stream === true || /^true$/i.test(formatScalar(stream)),
      isForm: files.length > 0,
      otherFieldNames: Object.keys(body).filter((name) => !KNOWN_FIELDS.has(name) && body[name] !== null),
    }
  },
  getContentType: ({ format }) =>
    format === 'text' || format === 'srt' || format === 'vtt' ? 'text/plain' : 'application/json',
  write: (transcript, context) => writeTranscript(transcript, context),
  createStream(request) {
    if (!request.isStream) return undefined
    return {
      writesEvents: true,
      getContentType: () => 'text/event-stream',
      writeChunk: (chunk) =>
        'delta' in chunk
          ? writeEvent({ type: 'transcript.text.delta', delta: chunk.delta })
          : writeEvent({
              type: 'transcript.text.done',
              text: chunk.done.text,
              ...(chunk.done.usage && { usage: writeUsage(chunk.done.usage) }),
            }),
      writeEnd: () => undefined,
      splitResponse: (transcript) => [
        ...(transcript.text === '' ? [] : [{ delta: transcript.text }]),
        { done: transcript },
      ],
    }
  },
})

/** The client adapters for transcription. */
export const clients = { openai: createClient('transcribe'), 'openai-translation': createClient('translate') }

const writeEvent = (json: JsonObject) => encodeUtf8(`data: ${JSON.stringify(json)}\n\n`)

function writeTranscript(
  transcript: Transcript,
  { request, warnings }: ClientWriteContext<TranscriptionRequest>,
): JsonObject | string {
  const { text, usage, language, words } = transcript
  const seconds = transcript.duration ?? usage?.units?.second ?? getDuration(request.file.bytes)
  const usageFields = { ...(usage && { usage: writeUsage(usage) }) }
  const segments = getSegments(transcript, seconds)
  switch (request.format) {
    case 'json':
      return { text, ...usageFields }
    case 'text':
      return `${text}\n`
    case 'srt':
      return writeSrt(segments)
    case 'vtt':
      return writeVtt(segments)
    case 'diarized_json':
      return {
        task: 'transcribe',
        duration: seconds ?? segments.at(-1)?.end ?? 0,
        text,
        segments: nameSpeakers(segments).map(({ start, end, text: segmentText, speaker }, index) => ({
          type: 'transcript.text.segment',
          id: `seg_${index}`,
          start,
          end,
          text: segmentText,
          speaker,
        })),
        ...usageFields,
      }
    case 'verbose_json': {
      const shouldAddWords = request.granularities.includes('word')
      if (shouldAddWords && !words) warnings.recordDrop('timestamp_granularities')
      const shouldAddSegments = !shouldAddWords || request.granularities.includes('segment')
      return {
        task: request.task,
        language: getLanguageName(language ?? request.language ?? ''),
        duration: seconds ?? segments.at(-1)?.end ?? 0,
        text,
        ...(shouldAddWords &&
          words && { words: words.map(({ word, start, end }) => ({ word: word.trim(), start, end })) }),
        ...(shouldAddSegments && { segments: segments.map(writeSegment) }),
        ...usageFields,
      }
    }
  }
}

/** Writes a segment, including the fields that OpenAI's clients expect but no other vendor has. */
const writeSegment = ({ start, end, text }: { start: number; end: number; text: string }, id: number) => ({
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

function writeUsage({ inputTokens, outputTokens, units }: TokenUsage): JsonObject {
  if (inputTokens + outputTokens === 0) return { type: 'duration', seconds: units?.second ?? 0 }
  return {
    type: 'tokens',
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}

/** Reads a form's file, or base64 audio (OpenRouter's clients). */
function readFile(
  { input_audio: audio }: JsonObject,
  files: readonly FormFile[],
  warnings: Warnings,
): TranscriptionRequest['file'] {
  const [file, second] = files.filter(({ name }) => name === 'file')
  if (second) return warnings.reject('file', 'appears more than once.')
  if (file) {
    if (file.bytes.length === 0) return warnings.reject('file', 'is empty.')
    const { bytes, type, fileName = '' } = file
    return normalizeRecording({ bytes, type, fileName })
  }
  if (!isObject(audio))
    return warnings.reject('file', 'is required: an audio file in a form, or "input_audio" with "data" and "format".')
  const { data, format = 'mp3' } = audio
  if (typeof data !== 'string' || data === '') return warnings.reject('input_audio.data', 'must be audio in base64.')
  if (typeof format !== 'string' || !/^[a-z\d]{2,8}$/.test(format))
    return warnings.reject('input_audio.format', 'must be a file extension, such as "mp3".')
  try {
    return normalizeRecording({ bytes: fromBase64(data), type: '', fileName: `audio.${format}` })
  } catch {
    return warnings.reject('input_audio.data', 'must be audio in base64.')
  }
}

function readStrings(body: JsonObject, name: string, warnings: Warnings): string[] {
  const value = body[name] ?? []
  const list = Array.isArray(value) ? value : [value]
  return list.map((item) => (typeof item === 'string' ? item : warnings.reject(name, 'must be an array of strings.')))
}

export function readTemperature(value: unknown, warnings: Warnings): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && number >= 0 && number <= 1) return number
  return warnings.reject('temperature', 'must be a number from 0 to 1.')
}
