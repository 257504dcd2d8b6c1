import type { Transcript, TranscriptSegment, Word } from './transcription.ts'

/** A segment ends at a pause longer than this, in seconds. */
const MAX_PAUSE = 0.8
const MAX_SEGMENT = 7

/** Returns the vendor's segments, or segments built from the words, or a single segment. `seconds` is the file's duration, if known. */
export function getSegments(
  { segments, words, text, duration }: Transcript,
  seconds = 0,
): readonly TranscriptSegment[] {
  if (segments && segments.length > 0) return segments
  if (words && words.length > 0) return groupWords(words)
  return text.trim() === '' ? [] : [{ start: 0, end: duration ?? seconds, text }]
}

/** Groups words into segments. A segment ends at a change of speaker, a pause, the end of a sentence, or the maximum length. */
function groupWords(words: readonly Word[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = []
  let last: Word | undefined
  for (const word of words) {
    const segment = segments.at(-1)
    const continues =
      segment !== undefined &&
      last !== undefined &&
      last.speaker === word.speaker &&
      word.start - last.end <= MAX_PAUSE &&
      word.end - segment.start <= MAX_SEGMENT &&
      !/[.!?。！？]["')\]]?$/.test(last.word.trim())
    if (continues) {
      segment.text = `${segment.text} ${word.word.trim()}`
      segment.end = word.end
    } else segments.push({ start: word.start, end: word.end, text: word.word.trim(), speaker: word.speaker })
    last = word
  }
  return segments
}

/** Names speakers `A`, `B`, … in the order of their first words. */
export function nameSpeakers(segments: readonly TranscriptSegment[]): Array<TranscriptSegment & { speaker: string }> {
  const letters = new Map<string | undefined, string>()
  return segments.map((segment) => {
    const letter = letters.get(segment.speaker) ?? toLetter(letters.size)
    letters.set(segment.speaker, letter)
    return { ...segment, speaker: letter }
  })
}

const toLetter = (index: number): string => (index < 26 ? String.fromCharCode(65 + index) : `S${index + 1}`)

/** Writes SubRip subtitles. */
export const writeSrt = (segments: readonly TranscriptSegment[]): string =>
  segments
    .map((segment, index) => `${index + 1}\n${writeCueTimes(segment, ',')}\n${writeCueText(segment)}\n\n`)
    .join('')

/** Writes WebVTT subtitles. */
export const writeVtt = (segments: readonly TranscriptSegment[]): string =>
  `WEBVTT\n\n${segments.map((segment) => `${writeCueTimes(segment, '.')}\n${writeCueText(segment)}\n\n`).join('')}`

/** Writes a cue's text. A blank line or an arrow would end the cue. */
const writeCueText = ({ text }: TranscriptSegment) =>
  text
    .trim()
    .replace(/\n\s*\n/g, '\n')
    .replaceAll('-->', '->')

/** Writes a cue's times. A cue's duration must not be zero. */
const writeCueTimes = ({ start, end }: TranscriptSegment, point: string) =>
  `${writeTime(start, point)} --> ${writeTime(Math.max(end, start + 0.001), point)}`

function writeTime(seconds: number, point: string): string {
  const ms = Math.round(Math.max(0, seconds) * 1_000)
  const padTwo = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${padTwo(ms / 3_600_000)}:${padTwo((ms / 60_000) % 60)}:${padTwo((ms / 1_000) % 60)}${point}${String(ms % 1_000).padStart(3, '0')}`
}

/** Returns a language's two-letter code if it has one: `en` for `english` and `eng`. */
export function getLanguageCode(language: string): string {
  try {
    if (/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return new Intl.Locale(language).language
  } catch {
    return language
  }
  const name = language.toLowerCase()
  return listCodes().find((code) => getLanguageName(code) === name) ?? language
}

const listCodes = () => SPEAKER_LETTERS.flatMap((first) => SPEAKER_LETTERS.map((second) => first + second))
const SPEAKER_LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

/** Returns a language's English name in lowercase, as in OpenAI's `verbose_json`: `english` for `en` and `eng`. */
export function getLanguageName(language: string): string {
  if (!/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return language.toLowerCase()
  try {
    return (new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language).toLowerCase()
  } catch {
    return language
  }
}
