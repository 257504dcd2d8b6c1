import type { SaidSegment, Transcript, Word } from './transcription.ts'

/** In seconds: a longer pause ends a segment, and a segment is no longer than this. */
const PAUSE = 0.8
const LONGEST = 7

/** The segments of a transcript: the vendor's own, else made of its words, else one. `seconds`: the length of the file, if known. */
export function segmentsOf({ segments, words, text, duration }: Transcript, seconds = 0): readonly SaidSegment[] {
  if (segments && segments.length > 0) return segments
  if (words && words.length > 0) return ofWords(words)
  return text.trim() === '' ? [] : [{ start: 0, end: duration ?? seconds, text }]
}

/** Ends a segment at a change of speaker, a pause, the end of a sentence, or after a while. */
function ofWords(words: readonly Word[]): SaidSegment[] {
  const segments: SaidSegment[] = []
  let last: Word | undefined
  for (const word of words) {
    const segment = segments.at(-1)
    const goesOn =
      segment !== undefined &&
      last !== undefined &&
      last.speaker === word.speaker &&
      word.start - last.end <= PAUSE &&
      word.end - segment.start <= LONGEST &&
      !/[.!?。！？]["')\]]?$/.test(last.word.trim())
    if (goesOn) {
      segment.text = `${segment.text} ${word.word.trim()}`
      segment.end = word.end
    } else segments.push({ start: word.start, end: word.end, text: word.word.trim(), speaker: word.speaker })
    last = word
  }
  return segments
}

/** Names speakers `A`, `B`, … in the order in which they speak. */
export function withLetters(segments: readonly SaidSegment[]): Array<SaidSegment & { speaker: string }> {
  const letters = new Map<string | undefined, string>()
  return segments.map((segment) => {
    const letter = letters.get(segment.speaker) ?? letterOf(letters.size)
    letters.set(segment.speaker, letter)
    return { ...segment, speaker: letter }
  })
}

const letterOf = (at: number): string => (at < 26 ? String.fromCharCode(65 + at) : `S${at + 1}`)

/** Subtitles in SubRip's form. */
export const srtOf = (segments: readonly SaidSegment[]): string =>
  segments.map((segment, at) => `${at + 1}\n${timesOf(segment, ',')}\n${lineOf(segment)}\n\n`).join('')

/** Subtitles in WebVTT. */
export const vttOf = (segments: readonly SaidSegment[]): string =>
  `WEBVTT\n\n${segments.map((segment) => `${timesOf(segment, '.')}\n${lineOf(segment)}\n\n`).join('')}`

/** A line of a cue: a blank line, or an arrow, would end it. */
const lineOf = ({ text }: SaidSegment) =>
  text
    .trim()
    .replace(/\n\s*\n/g, '\n')
    .replaceAll('-->', '->')

/** No cue is shown for no time. */
const timesOf = ({ start, end }: SaidSegment, point: string) =>
  `${timeOf(start, point)} --> ${timeOf(Math.max(end, start + 0.001), point)}`

function timeOf(seconds: number, point: string): string {
  const ms = Math.round(Math.max(0, seconds) * 1_000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${String(ms % 1_000).padStart(3, '0')}`
}

/** The code of a language of two letters where it has one: `en` for `english` and `eng`. */
export function languageCode(language: string): string {
  try {
    if (/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return new Intl.Locale(language).language
  } catch {
    return language
  }
  const name = language.toLowerCase()
  return codes().find((code) => languageName(code) === name) ?? language
}

/** All codes of two letters that there can be. */
const codes = () => LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

/** The name of a language in English, in lower case, as OpenAI's detailed form has it: `english` for `en` and `eng`. */
export function languageName(language: string): string {
  if (!/^[a-z]{2,3}(?:-\w+)*$/i.test(language)) return language.toLowerCase()
  try {
    return (new Intl.DisplayNames(['en'], { type: 'language' }).of(language) ?? language).toLowerCase()
  } catch {
    return language
  }
}
