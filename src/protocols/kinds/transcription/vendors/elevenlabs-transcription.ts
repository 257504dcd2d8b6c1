import { isObject } from '../../../../lib/json.ts'
import {
  collectKeywords,
  needsSpeakers,
  needsTimestamps,
  readWords,
  recordUnsupported,
  type TranscriptionAdapter,
  throwFormatMismatch,
  toDurationUsage,
  writeForm,
} from '../transcription.ts'

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenlabs: TranscriptionAdapter = {
  name: 'elevenlabs',
  providers: ['elevenlabs'],
  keyHeader: 'xi-api-key',
  writeRequest(request, { target, warnings }) {
    if (request.task === 'translate') return throwFormatMismatch('model', target, 'does not translate')
    recordUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    return {
      path: '/speech-to-text',
      form: writeForm(
        {
          model_id: target.model,
          language_code: request.language,
          temperature: request.temperature,
          tag_audio_events: false,
          timestamps_granularity: needsTimestamps(request) || request.acceptsTimestamps ? 'word' : 'none',
          diarize: needsSpeakers(request) ? true : undefined,
          keyterms: collectKeywords(request, warnings),
        },
        request.file,
      ),
    }
  },
  readResponse({ text, language_code: language, words, audio_duration_secs: duration }) {
    if (typeof text !== 'string') return 'text'
    const spokenWords = Array.isArray(words)
      ? words.filter((word) => isObject(word) && word.type !== 'spacing' && word.type !== 'audio_event')
      : undefined
    return {
      text,
      language: typeof language === 'string' ? language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      words: readWords(spokenWords, 'text'),
      usage: toDurationUsage(duration),
    }
  },
}
