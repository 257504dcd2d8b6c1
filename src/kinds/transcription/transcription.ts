import { gatewayError } from '../../errors.ts'
import { mediaTokens } from '../../formats/canonical/media-tokens.ts'
import { tokenCount } from '../../formats/canonical/values.ts'
import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { isObject } from '../../lib/json.ts'
import type { FormPart } from '../../lib/multipart.ts'
import { type ProviderTarget, targetName } from '../../providers/target.ts'
import type { Used, VendorForm } from '../forms.ts'

/** A request for the transcript of a file of sound. */
export interface Hearing {
  file: { bytes: Uint8Array; type: string; fileName: string }
  /** `translate`: into English. */
  task: 'transcribe' | 'translate'
  format: TranscriptFormat
  /** A code, or a name as the client says it. */
  language: string | undefined
  prompt: string | undefined
  keywords: readonly string[]
  granularities: readonly string[]
  /** Does the client read times where there are any, whatever the format? Then vendors are asked for them that tell them at no price. */
  takesTimes?: boolean
  /** Does it read those of words, too? */
  takesWords?: boolean
  temperature: number | undefined
  isStream: boolean
  /** Was it sent as a form? */
  isForm: boolean
  /** The names of the other fields. */
  others: readonly string[]
}

export const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
export type TranscriptFormat = (typeof FORMATS)[number]

/** A transcript. Times are in seconds. */
export interface Transcript extends Used {
  text: string
  /** As the vendor has it: a code of two or three letters, or a name. */
  language?: string | undefined
  duration?: number | undefined
  segments?: readonly SaidSegment[] | undefined
  words?: readonly Word[] | undefined
}

export interface SaidSegment {
  start: number
  end: number
  text: string
  /** In the vendor's words. */
  speaker?: string | undefined
}

export interface Word {
  word: string
  start: number
  end: number
  speaker?: string | undefined
}

/** What a stream has said. */
export type TranscriptPiece = { delta: string } | { done: Transcript }

export type HearingForm = VendorForm<Hearing, Transcript, TranscriptPiece>

/** Does the answer have times? */
export const needsTimes = ({ format }: Hearing): boolean => format !== 'json' && format !== 'text'
export const needsSpeakers = ({ format }: Hearing): boolean => format === 'diarized_json'

/** Throws `FORMAT_MISMATCH`, by which the next target is tried, that names the field. */
export function cannotCarry(field: string, target: ProviderTarget, what: string): never {
  throw gatewayError('FORMAT_MISMATCH', {
    message: `"${field}": ${targetName(target)} ${what}.`,
    data: { param: field },
  })
}

/** Notes what of a request a vendor does not take; `takes`: what it does. */
export function noteLost(asked: Hearing, takes: readonly (keyof Hearing)[], warnings: Warnings): void {
  for (const field of ['language', 'prompt', 'temperature'] as const)
    if (asked[field] !== undefined && !takes.includes(field)) warnings.noteDropped(field)
  if (asked.keywords.length > 0 && !takes.includes('keywords')) warnings.noteDropped('keywords')
  for (const name of asked.others) warnings.noteDropped(name)
}

/** The keywords of a request: its own, and a prompt that is a list. */
export function keywordsOf({ keywords, prompt }: Hearing, warnings: Warnings): string[] {
  if (prompt === undefined) return [...keywords]
  const listed = prompt.split(',').map((word) => word.trim())
  if (listed.length > 1 && listed.every((word) => word !== '' && word.split(/\s+/).length <= 4))
    return [...keywords, ...listed]
  warnings.noteDropped('prompt')
  return [...keywords]
}

/** The fields of a form; those without a value are left out, and lists are repeated. */
export function formOf(
  fields: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>,
  { bytes, type, fileName }: Hearing['file'],
): readonly FormPart[] {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    const values = typeof value === 'object' ? value : [String(value)]
    return values.map((one) => ({ name, value: one }))
  })
  return [...parts, { name: 'file', bytes, type, fileName }]
}

/** Segments in OpenAI's form, which others have as well. */
export const segmentsIn = (value: unknown): SaidSegment[] | undefined =>
  listOf(value, ({ start, end, text, speaker, speaker_id: id }) => {
    const name = speaker ?? id
    return isNumber(start) && isNumber(end) && typeof text === 'string'
      ? { start, end, text, ...(name !== undefined && name !== null && { speaker: String(name) }) }
      : undefined
  })

/** Words, by their member that has the text. */
export const wordsIn = (value: unknown, member = 'word'): Word[] | undefined =>
  listOf(value, ({ start, end, speaker, speaker_id: id, ...more }) => {
    const { [member]: word } = more
    const name = speaker ?? id
    return isNumber(start) && isNumber(end) && typeof word === 'string'
      ? { word, start, end, ...(name !== undefined && name !== null && { speaker: String(name) }) }
      : undefined
  })

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

function listOf<T>(value: unknown, read: (item: Record<string, unknown>) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((item) => (isObject(item) ? (read(item) ?? []) : []))
}

/** A number of seconds as usage. */
export const secondsUsed = (seconds: unknown): TokenUsage | undefined =>
  isNumber(seconds) && seconds >= 0 ? { inputTokens: 0, outputTokens: 0, units: { second: seconds } } : undefined

/** Usage in OpenAI's form: tokens, or seconds. */
export function usageIn(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const inputTokens = tokenCount(usage.input_tokens ?? usage.prompt_tokens)
  const outputTokens = tokenCount(usage.output_tokens ?? usage.completion_tokens)
  const cost = isNumber(usage.cost) ? { costUsd: usage.cost } : {}
  if (inputTokens + outputTokens > 0) {
    const { input_token_details: details = usage.prompt_tokens_details } = usage
    return { inputTokens, outputTokens, ...mediaTokens(details, undefined), ...cost }
  }
  const seconds = secondsUsed(usage.seconds ?? usage.prompt_audio_seconds)
  return seconds && { ...seconds, ...cost }
}

/** An answer in OpenAI's form; what it lacks, if it is none. Silence is an answer. */
export function transcriptIn(json: Record<string, unknown>): Transcript | string {
  const { text, language, duration, segments, words, usage, model } = json
  if (typeof text !== 'string') return 'a text'
  return {
    text,
    ...(typeof model === 'string' && { model }),
    language: typeof language === 'string' ? language : undefined,
    duration: isNumber(duration) ? duration : undefined,
    segments: segmentsIn(segments),
    words: wordsIn(words),
    usage: usageIn(usage) ?? secondsUsed(duration),
  }
}
