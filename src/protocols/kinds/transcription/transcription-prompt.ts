import { isObject, tryParseJson } from '../../../lib/json.ts'
import { needsTimestamps, readSegments, type Transcript, type TranscriptionRequest } from './transcription.ts'

/** Writes the prompt that is sent to a chat model together with the audio. */
export function writePrompt({ task, language, prompt, keywords, ...request }: TranscriptionRequest): string {
  const isTimestamped = needsTimestamps({ task, language, prompt, keywords, ...request })
  return [
    task === 'translate'
      ? 'Translate what is said in this recording into English.'
      : `Transcribe this recording word for word${language === undefined ? ', in the language that is spoken' : ` (language: ${language})`}.`,
    isTimestamped
      ? 'Answer with JSON: "language" (a code) and "segments", each with "start" and "end" in seconds, "text" and "speaker" (A, B, …).'
      : 'Answer with the text alone, without times, names or remarks. Where nothing is said, answer with nothing.',
    ...(keywords.length > 0 ? [`These words may occur: ${keywords.join(', ')}.`] : []),
    ...(prompt === undefined ? [] : [`What is known of it: ${prompt}`]),
  ].join('\n')
}

/** Parses the transcript in a chat model's text. If anything is missing, returns a description of it. */
export function parseTranscript(text: string, request: TranscriptionRequest): Transcript | string {
  if (!needsTimestamps(request)) return { text: text.trim() }
  const json = tryParseJson(text.replace(/^\s*```(?:json)?|```\s*$/g, ''))
  const segments = isObject(json) ? readSegments(json.segments) : undefined
  if (!isObject(json) || !segments) return 'timestamped segments'
  const { language } = json
  return {
    text: segments.map((segment) => segment.text.trim()).join(' '),
    segments,
    language: typeof language === 'string' ? language : undefined,
  }
}
