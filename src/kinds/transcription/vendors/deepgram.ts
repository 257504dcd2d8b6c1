import { isObject, type JsonObject } from '../../../lib/json.ts'
import {
  cannotCarry,
  type HearingForm,
  keywordsOf,
  needsSpeakers,
  needsTimes,
  noteLost,
  secondsUsed,
  segmentsIn,
  wordsIn,
} from '../transcription.ts'

/** https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded. The body is the file alone. */
export const deepgram: HearingForm = {
  name: 'deepgram',
  providers: ['deepgram'],
  keyHeader: 'token',
  request(asked, { target, warnings }) {
    if (asked.task === 'translate') return cannotCarry('model', target, 'does not translate')
    noteLost(asked, ['language', 'prompt', 'keywords'], warnings)
    const { language, file } = asked
    return {
      path: '/listen',
      query: {
        model: target.model,
        smart_format: true,
        ...(language === undefined ? { detect_language: true } : { language }),
        ...(needsTimes(asked) && { utterances: true }),
        ...(needsSpeakers(asked) && { diarize: true }),
        keyterm: keywordsOf(asked, warnings).slice(0, 100),
      },
      bytes: { type: file.type, bytes: file.bytes },
    }
  },
  answer({ metadata, results }) {
    const channels = isObject(results) && Array.isArray(results.channels) ? results.channels.filter(isObject) : []
    const [channel] = channels
    if (!channel || !isObject(results)) return 'a transcript'
    const said = channels.map(firstOf)
    const [first] = said
    if (!first) return 'a transcript'
    const words = Array.isArray(first.words)
      ? first.words.map((word) => (isObject(word) ? { ...word, word: word.punctuated_word ?? word.word } : word))
      : undefined
    const utterances = Array.isArray(results.utterances)
      ? results.utterances.map((one) => (isObject(one) ? { ...one, text: one.transcript } : one))
      : undefined
    const duration = isObject(metadata) ? metadata.duration : undefined
    return {
      text: said.map((one) => one?.transcript ?? '').join('\n'),
      language: typeof channel.detected_language === 'string' ? channel.detected_language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      segments: segmentsIn(utterances),
      words: wordsIn(words),
      usage: secondsUsed(duration),
    }
  },
}

function firstOf({ alternatives }: JsonObject): (JsonObject & { transcript: string }) | undefined {
  const [first] = Array.isArray(alternatives) ? alternatives : []
  return isObject(first) && typeof first.transcript === 'string'
    ? { ...first, transcript: first.transcript }
    : undefined
}
