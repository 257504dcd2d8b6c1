import { isObject, type JsonObject } from '../../../../lib/json.ts'
import {
  collectKeywords,
  needsSpeakers,
  needsTimestamps,
  readSegments,
  readWords,
  recordUnsupported,
  type TranscriptionAdapter,
  throwFormatMismatch,
  toDurationUsage,
} from '../transcription.ts'

/** https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded. The body is the file. */
export const deepgram: TranscriptionAdapter = {
  name: 'deepgram',
  providers: ['deepgram'],
  keyHeader: 'token',
  writeRequest(request, { target, warnings }) {
    if (request.task === 'translate') return throwFormatMismatch('model', target, 'does not translate')
    recordUnsupported(request, ['language', 'prompt', 'keywords'], warnings)
    const { language, file } = request
    return {
      path: '/listen',
      query: {
        model: target.model,
        smart_format: true,
        ...(language === undefined ? { detect_language: true } : { language }),
        ...(needsTimestamps(request) && { utterances: true }),
        ...(needsSpeakers(request) && { diarize: true }),
        keyterm: collectKeywords(request, warnings).slice(0, 100),
      },
      bytes: { type: file.type, bytes: file.bytes },
    }
  },
  readResponse({ metadata, results }) {
    const channels = isObject(results) && Array.isArray(results.channels) ? results.channels.filter(isObject) : []
    const [channel] = channels
    if (!channel || !isObject(results)) return 'a transcript'
    const alternatives = channels.map(getFirstAlternative)
    const [first] = alternatives
    if (!first) return 'a transcript'
    const words = Array.isArray(first.words)
      ? first.words.map((word) => (isObject(word) ? { ...word, word: word.punctuated_word ?? word.word } : word))
      : undefined
    const utterances = Array.isArray(results.utterances)
      ? results.utterances.map((utterance) =>
          isObject(utterance) ? { ...utterance, text: utterance.transcript } : utterance,
        )
      : undefined
    const duration = isObject(metadata) ? metadata.duration : undefined
    return {
      text: alternatives.map((alternative) => alternative?.transcript ?? '').join('\n'),
      language: typeof channel.detected_language === 'string' ? channel.detected_language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      segments: readSegments(utterances),
      words: readWords(words),
      usage: toDurationUsage(duration),
    }
  },
}

function getFirstAlternative({ alternatives }: JsonObject): (JsonObject & { transcript: string }) | undefined {
  const [first] = Array.isArray(alternatives) ? alternatives : []
  return isObject(first) && typeof first.transcript === 'string'
    ? { ...first, transcript: first.transcript }
    : undefined
}
