import type { Transcript, TranscriptSegment, TranscriptWord } from './transcription.ts'

/** A segment ends at a pause longer than this, in seconds. */
const MAX_PAUSE_SECONDS = 0.8
const MAX_SEGMENT_SECONDS = 7

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
function groupWords(words: readonly TranscriptWord[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = []
  let lastWord: TranscriptWord | undefined
  for (const word of words) {
    const segment = segments.at(-1)
    const continuesSegment =
      segment !== undefined &&
      lastWord !== undefined &&
      lastWord.speaker === word.speaker &&
      word.start - lastWord.end <= MAX_PAUSE_SECONDS &&
      word.end - segment.start <= MAX_SEGMENT_SECONDS &&
      !/[.!?。！？]["')\]]?$/.test(lastWord.word.trim())
    if (continuesSegment) {
      segment.text = `${segment.text} ${word.word.trim()}`
      segment.end = word.end
    } else segments.push({ start: word.start, end: word.end, text: word.word.trim(), speaker: word.speaker })
    lastWord = word
  }
  return segments
}

/** Names speakers `A`, `B`, … in the order of their first words. */
export function nameSpeakers(segments: readonly TranscriptSegment[]): Array<TranscriptSegment & { speaker: string }> {
  const speakerLetters = new Map<string | undefined, string>()
  return segments.map((segment) => {
    const letter = speakerLetters.get(segment.speaker) ?? toLetter(speakerLetters.size)
    speakerLetters.set(segment.speaker, letter)
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
const writeCueTimes = ({ start, end }: TranscriptSegment, decimalMark: string) =>
  `${writeTime(start, decimalMark)} --> ${writeTime(Math.max(end, start + 0.001), decimalMark)}`

function writeTime(seconds: number, decimalMark: string): string {
  const ms = Math.round(Math.max(0, seconds) * 1_000)
  const padToTwoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${padToTwoDigits(ms / 3_600_000)}:${padToTwoDigits((ms / 60_000) % 60)}:${padToTwoDigits((ms / 1_000) % 60)}${decimalMark}${String(ms % 1_000).padStart(3, '0')}`
}

/** Returns a language's two-letter code if it has one: `en` for `english` and `eng`. */
export function getLanguageCode(language: string): string {
  try {
    if (/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return new Intl.Locale(language).language
  } catch {
    return language
  }
  const name = language.toLowerCase()
  return listLanguageCodes().find((code) => getLanguageName(code) === name) ?? language
}

const listLanguageCodes = () => ALPHABET.flatMap((first) => ALPHABET.map((second) => first + second))
const ALPHABET = [...'abcdefghijklmnopqrstuvwxyz']

/** Returns a language's English name in lowercase, as in OpenAI's `verbose_json`: `english` for `en` and `eng`. */
export function getLanguageName(language: string): string {
  if (!/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return language.toLowerCase()
  try {
    return (new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language).toLowerCase()
  } catch {
    return language
  }
}
