import { gatewayError } from '../../../errors.ts'
import { formatScalar, isObject } from '../../../lib/json.ts'
import type { FormPart } from '../../../lib/multipart.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import { readMediaTokens } from '../../formats/canonical/media-tokens.ts'
import { readCost } from '../../formats/canonical/reported-cost.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { getTargetName, type ProviderTarget } from '../../providers/target.ts'
import type { KindResponse, VendorAdapter } from '../kind-adapters.ts'
import type { Recording } from '../sound/file-type.ts'

/** A transcription request, independent of the client's format. */
export interface TranscriptionRequest {
  /** The recording, with a matching name and type. */
  file: Recording
  /** The task; `translate` translates into English. */
  task: 'transcribe' | 'translate'
  format: TranscriptFormat
  /** A language code or name, as the client sent it. */
  language: string | undefined
  prompt: string | undefined
  keywords: readonly string[]
  granularities: readonly string[]
  /** Whether the client accepts times in any format. They are requested from vendors that provide them for free. */
  acceptsTimestamps?: boolean
  /** Whether the client also reads word times. */
  acceptsWordTimestamps?: boolean
  temperature: number | undefined
  isStream: boolean
  /** Whether the request is a form. */
  isForm: boolean
  /** The names of all other fields. */
  otherFieldNames: readonly string[]
}

export const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
export type TranscriptFormat = (typeof FORMATS)[number]

/** A transcript. Times are in seconds. */
export interface Transcript extends KindResponse {
  text: string
  /** The vendor's value: a code of two or three letters, or a name. */
  language?: string | undefined
  duration?: number | undefined
  segments?: readonly TranscriptSegment[] | undefined
  words?: readonly TranscriptWord[] | undefined
}

export interface TranscriptSegment {
  start: number
  end: number
  text: string
  /** The vendor's name for the speaker. */
  speaker?: string | undefined
}

export interface TranscriptWord {
  word: string
  start: number
  end: number
  speaker?: string | undefined
}

/** A part of a transcript, or the complete transcript at the end of a stream. */
export type TranscriptChunk = { delta: string } | { done: Transcript }

export type TranscriptionAdapter = VendorAdapter<TranscriptionRequest, Transcript, TranscriptChunk>

/** Returns whether the response format contains times. */
export const needsTimestamps = ({ format }: TranscriptionRequest): boolean => format !== 'json' && format !== 'text'
export const needsSpeakers = ({ format }: TranscriptionRequest): boolean => format === 'diarized_json'

/** Throws `FORMAT_MISMATCH` for a field, so that the next target is tried. */
export function throwFormatMismatch(field: string, target: ProviderTarget, problem: string): never {
  throw gatewayError('FORMAT_MISMATCH', {
    message: `"${field}": ${getTargetName(target)} ${problem}.`,
    data: { param: field },
  })
}

/** Reports unsupported fields as dropped. `supported` contains the supported ones. */
export function recordUnsupported(
  request: TranscriptionRequest,
  supported: readonly (keyof TranscriptionRequest)[],
  warnings: Warnings,
): void {
  for (const field of ['language', 'prompt', 'temperature'] as const)
    if (request[field] !== undefined && !supported.includes(field)) warnings.recordDrop(field)
  if (request.keywords.length > 0 && !supported.includes('keywords')) warnings.recordDrop('keywords')
  for (const name of request.otherFieldNames) warnings.recordDrop(name)
}

/** Returns the keywords, including the words in a prompt that is a list. */
export function collectKeywords({ keywords, prompt }: TranscriptionRequest, warnings: Warnings): string[] {
  if (prompt === undefined) return [...keywords]
  const promptKeywords = prompt.split(',').map((word) => word.trim())
  if (promptKeywords.length > 1 && promptKeywords.every((word) => word !== '' && word.split(/\s+/).length <= 4))
    return [...keywords, ...promptKeywords]
  warnings.recordDrop('prompt')
  return [...keywords]
}

/** Writes a form. Undefined fields are omitted. Arrays repeat the field. */
export function writeForm(
  fields: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
  { bytes, type, fileName }: TranscriptionRequest['file'],
): readonly FormPart[] {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    const values = typeof value === 'object' ? value : [String(value)]
    return values.map((value) => ({ name, value }))
  })
  return [...parts, { name: 'file', bytes, type, fileName }]
}

/** Reads segments in OpenAI's format, which other vendors also use. */
export const readSegments = (value: unknown): TranscriptSegment[] | undefined =>
  readList(value, ({ start, end, text, speaker, speaker_id: id }) => {
    const name = speaker ?? id
    return isNumber(start) && isNumber(end) && typeof text === 'string'
      ? { start, end, text, ...(name !== undefined && name !== null && { speaker: formatScalar(name) }) }
      : undefined
  })

/** Reads words. `wordField` is the field that contains the word itself. */
export const readWords = (value: unknown, wordField = 'word'): TranscriptWord[] | undefined =>
  readList(value, ({ start, end, speaker, speaker_id: id, ...rest }) => {
    const { [wordField]: word } = rest
    const name = speaker ?? id
    return isNumber(start) && isNumber(end) && typeof word === 'string'
      ? { word, start, end, ...(name !== undefined && name !== null && { speaker: formatScalar(name) }) }
      : undefined
  })

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function readList<T>(value: unknown, readItem: (item: Record<string, unknown>) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((item) => (isObject(item) ? (readItem(item) ?? []) : []))
}

/** Returns the usage for a duration in seconds. */
export const toDurationUsage = (seconds: unknown): TokenUsage | undefined =>
  isNumber(seconds) && seconds >= 0 ? { inputTokens: 0, outputTokens: 0, units: { second: seconds } } : undefined

/** Reads OpenAI's usage, in tokens or seconds. */
export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const inputTokens = readTokenCount(usage.input_tokens ?? usage.prompt_tokens)
  const outputTokens = readTokenCount(usage.output_tokens ?? usage.completion_tokens)
  const cost = readCost(usage)
  const seconds = toDurationUsage(usage.seconds ?? usage.prompt_audio_seconds)
  if (inputTokens + outputTokens > 0) {
    const { input_token_details: details = usage.prompt_tokens_details } = usage
    return { ...seconds, inputTokens, outputTokens, ...readMediaTokens(details, undefined), ...cost }
  }
  return seconds && { ...seconds, ...cost }
}

/** Reads a response in OpenAI's format. If anything is missing, returns a description of it. Silence results in an empty string. */
export function readTranscript(json: Record<string, unknown>): Transcript | string {
  const { text, language, duration, segments, words, usage, model } = json
  if (typeof text !== 'string') return 'text'
  return {
    text,
    ...(typeof model === 'string' && { model }),
    language: typeof language === 'string' ? language : undefined,
    duration: isNumber(duration) ? duration : undefined,
    segments: readSegments(segments),
    words: readWords(words),
    usage: readUsage(usage) ?? toDurationUsage(duration),
  }
}
