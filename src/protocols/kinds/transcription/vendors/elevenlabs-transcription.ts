import { isObject } from '../../../../lib/json.ts'
import {
  collectKeywords,
  needsSpeakers,
  needsTimes,
  noteUnsupported,
  readWords,
  type TranscriptionAdapter,
  throwMismatch,
  toDurationUsage,
  writeForm,
} from '../transcription.ts'

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenlabs: TranscriptionAdapter = {
  name: 'elevenlabs',
  providers: ['elevenlabs'],
  keyHeader: 'xi-api-key',
  writeRequest(request, { target, warnings }) {
    if (request.task === 'translate') return throwMismatch('model', target, 'does not translate')
    noteUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    return {
      path: '/speech-to-text',
      form: writeForm(
        {
          model_id: target.model,
          language_code: request.language,
          temperature: request.temperature,
          tag_audio_events: false,
          timestamps_granularity: needsTimes(request) || request.acceptsTimes ? 'word' : 'none',
          diarize: needsSpeakers(request) ? true : undefined,
          keyterms: collectKeywords(request, warnings),
        },
        request.file,
      ),
    }
  },
  readResponse({ text, language_code: language, words, audio_duration_secs: duration }) {
    if (typeof text !== 'string') return 'text'
    const spoken = Array.isArray(words)
      ? words.filter((word) => isObject(word) && word.type !== 'spacing' && word.type !== 'audio_event')
      : undefined
    return {
      text,
      language: typeof language === 'string' ? language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      words: readWords(spoken, 'text'),
      usage: toDurationUsage(duration),
    }
  },
}
