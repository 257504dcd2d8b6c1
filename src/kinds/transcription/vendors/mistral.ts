import { embeddedError } from '../../../formats/errors/embedded.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import type { SaidPieces } from '../../forms.ts'
import {
  cannotCarry,
  formOf,
  type HearingForm,
  keywordsOf,
  needsSpeakers,
  needsTimes,
  noteLost,
  type TranscriptPiece,
  transcriptIn,
} from '../transcription.ts'

/** https://docs.mistral.ai/api/endpoint/audio/transcriptions */
export const mistral: HearingForm = {
  name: 'mistral',
  providers: ['mistral'],
  request(asked, { target, warnings }) {
    if (asked.task === 'translate') return cannotCarry('model', target, 'does not translate')
    noteLost(asked, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const unit = asked.granularities.includes('word') ? 'word' : 'segment'
    return {
      path: '/audio/transcriptions',
      form: formOf(
        {
          model: target.model,
          language: asked.language,
          temperature: asked.temperature,
          diarize: needsSpeakers(asked) ? true : undefined,
          context_bias: keywordsOf(asked, warnings),
          timestamp_granularities: needsTimes(asked) ? [unit] : undefined,
          stream: asked.isStream ? true : undefined,
        },
        asked.file,
      ),
    }
  },
  stream: ({ isStream }) => (isStream ? { of: 'events', read: ({ data }) => saidIn(tryParseJson(data)) } : undefined),
  answer(json, { granularities }) {
    const transcript = transcriptIn(json)
    if (typeof transcript === 'string' || !granularities.includes('word')) return transcript
    const words = transcript.segments?.map(({ text, ...times }) => ({ ...times, word: text }))
    return { ...transcript, segments: undefined, words }
  },
}

function saidIn(json: unknown): SaidPieces<TranscriptPiece> {
  if (!isObject(json)) return {}
  const error = embeddedError(json.error)
  if (error) return { error }
  if (json.type === 'transcription.text.delta' && typeof json.text === 'string')
    return { pieces: [{ delta: json.text }] }
  if (json.type !== 'transcription.done') return {}
  const done = transcriptIn(json)
  return typeof done === 'string' ? {} : { pieces: [{ done }], isLast: true, usage: done.usage }
}
