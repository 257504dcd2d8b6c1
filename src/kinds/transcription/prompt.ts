import { isObject, tryParseJson } from '../../lib/json.ts'
import { type Hearing, needsTimes, segmentsIn, type Transcript } from './transcription.ts'

/** What a model for chat is told beside the sound. */
export function promptFor({ task, language, prompt, keywords, ...asked }: Hearing): string {
  const isTimed = needsTimes({ task, language, prompt, keywords, ...asked })
  return [
    task === 'translate'
      ? 'Translate what is said in this recording into English.'
      : `Transcribe this recording word for word${language === undefined ? ', in the language that is spoken' : ` (language: ${language})`}.`,
    isTimed
      ? 'Answer with JSON: "language" (a code) and "segments", each with "start" and "end" in seconds, "text" and "speaker" (A, B, …).'
      : 'Answer with the text alone, without times, names or remarks. Where nothing is said, answer with nothing.',
    ...(keywords.length > 0 ? [`These words may occur: ${keywords.join(', ')}.`] : []),
    ...(prompt === undefined ? [] : [`What is known of it: ${prompt}`]),
  ].join('\n')
}

/** The transcript in the text of a model's answer; what it lacks, if it is none. */
export function transcriptOf(text: string, asked: Hearing): Transcript | string {
  if (!needsTimes(asked)) return { text: text.trim() }
  const json = tryParseJson(text.replace(/^\s*```(?:json)?|```\s*$/g, ''))
  const segments = isObject(json) ? segmentsIn(json.segments) : undefined
  if (!isObject(json) || !segments) return 'segments with times'
  const { language } = json
  return {
    text: segments.map((one) => one.text.trim()).join(' '),
    segments,
    language: typeof language === 'string' ? language : undefined,
  }
}
