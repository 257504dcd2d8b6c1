import { isObject, tryParseJson } from '../../../../lib/json.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import type { StreamContent } from '../../kind-adapters.ts'
import {
  collectKeywords,
  needsSpeakers,
  needsTimestamps,
  readTranscript,
  readUsage,
  recordUnsupported,
  type TranscriptChunk,
  type TranscriptionAdapter,
  throwFormatMismatch,
  writeForm,
} from '../transcription.ts'

/** https://docs.mistral.ai/api/endpoint/audio/transcriptions */
export const mistral: TranscriptionAdapter = {
  name: 'mistral',
  providers: ['mistral'],
  writeRequest(request, { target, warnings }) {
    if (request.task === 'translate') return throwFormatMismatch('model', target, 'does not translate')
    recordUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const unit = request.granularities.includes('word') ? 'word' : 'segment'
    return {
      path: '/audio/transcriptions',
      form: writeForm(
        {
          model: target.model,
          language: request.language,
          temperature: request.temperature,
          diarize: needsSpeakers(request) ? true : undefined,
          context_bias: collectKeywords(request, warnings),
          timestamp_granularities: needsTimestamps(request) ? [unit] : undefined,
          stream: request.isStream ? true : undefined,
        },
        request.file,
      ),
    }
  },
  createStream: ({ isStream }) =>
    isStream ? { framing: 'events', read: ({ data }) => readEvent(tryParseJson(data)) } : undefined,
  readResponse(json, { granularities }) {
    const transcript = readTranscript(json)
    if (typeof transcript === 'string' || !granularities.includes('word')) return transcript
    const words = transcript.segments?.map(({ text, ...times }) => ({ ...times, word: text }))
    return { ...transcript, segments: undefined, words }
  },
}

function readEvent(json: unknown): StreamContent<TranscriptChunk> {
  if (!isObject(json)) return {}
  const error = readEmbeddedError(json.error)
  if (error) return { error, usage: readUsage(json.usage) }
  if (json.type === 'transcription.text.delta' && typeof json.text === 'string')
    return { chunks: [{ delta: json.text }] }
  if (json.type !== 'transcription.done') return {}
  const done = readTranscript(json)
  return typeof done === 'string' ? {} : { chunks: [{ done }], isLast: true, usage: done.usage }
}
