import { isObject } from '../../../lib/json.ts'
import {
  cannotCarry,
  formOf,
  type HearingForm,
  keywordsOf,
  needsSpeakers,
  needsTimes,
  noteLost,
  secondsUsed,
  wordsIn,
} from '../transcription.ts'

/** https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const elevenlabs: HearingForm = {
  name: 'elevenlabs',
  providers: ['elevenlabs'],
  keyHeader: 'xi-api-key',
  request(asked, { target, warnings }) {
    if (asked.task === 'translate') return cannotCarry('model', target, 'does not translate')
    noteLost(asked, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    return {
      path: '/speech-to-text',
      form: formOf(
        {
          model_id: target.model,
          language_code: asked.language,
          temperature: asked.temperature,
          tag_audio_events: false,
          timestamps_granularity: needsTimes(asked) || asked.takesTimes ? 'word' : 'none',
          diarize: needsSpeakers(asked) ? true : undefined,
          keyterms: keywordsOf(asked, warnings),
        },
        asked.file,
      ),
    }
  },
  answer({ text, language_code: language, words, audio_duration_secs: duration }) {
    if (typeof text !== 'string') return 'a text'
    const spoken = Array.isArray(words)
      ? words.filter((word) => isObject(word) && word.type !== 'spacing' && word.type !== 'audio_event')
      : undefined
    return {
      text,
      language: typeof language === 'string' ? language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      words: wordsIn(spoken, 'text'),
      usage: secondsUsed(duration),
    }
  },
}
