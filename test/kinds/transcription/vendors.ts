import { fromBase64 } from '../../../src/lib/bytes.ts'
import { isFile, parseForm } from '../../../src/lib/multipart.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Catalog } from '../../../src/types.ts'
import { type Call, json, sse } from '../../pipeline/support/upstream.ts'
import { wav } from './sample.ts'

interface HearingVendor {
  respond(call: Call): Response
}

/** The words spoken in the file. */
export const TEXT = 'Hello there. And bye.'
const words = [
  { word: 'Hello', start: 0, end: 0.05 },
  { word: 'there.', start: 0.05, end: 0.1 },
  { word: 'And', start: 0.12, end: 0.15 },
  { word: 'bye.', start: 0.15, end: 0.2 },
]
const segments = [
  { start: 0, end: 0.1, text: 'Hello there.', speaker: 'x' },
  { start: 0.12, end: 0.2, text: 'And bye.', speaker: 'y' },
]
const DURATION = 0.2

const rejectWith = (label: string, status = 400) =>
  json({ error: { message: `Unknown: ${label}`, type: 'invalid_request_error' } }, status)
const isSame = (bytes: Uint8Array) => bytes.length === wav.length && bytes.every((byte, index) => byte === wav[index])

/** Returns a form's fields by name, or `undefined` if its file isn't the sent file or isn't the last part. */
export function getForm({ init, headers }: Pick<Call, 'init' | 'headers'>): Record<string, string[]> | undefined {
  const parts = parseForm(init.body as Uint8Array, headers.get('content-type') ?? '')
  const last = parts.at(-1)
  if (!last || !isFile(last) || last.name !== 'file' || !isSame(last.bytes) || !last.fileName?.endsWith('.wav'))
    return undefined
  const fields: Record<string, string[]> = {}
  for (const part of parts) if (!isFile(part)) fields[part.name] = [...(fields[part.name] ?? []), part.value]
  return fields
}

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`
const usage = { type: 'tokens', input_tokens: 3, output_tokens: 5, total_tokens: 8 }

/** Creates a vendor with OpenAI's format and these fields and formats. */
const openaiLike =
  (known: readonly string[], formats: readonly string[]) =>
  (call: Call): Response => {
    const fields = getForm(call)
    const unknown = Object.keys(fields ?? {}).find((name) => !known.includes(name))
    if (!fields || unknown !== undefined) return rejectWith(unknown ?? 'file')
    const [format = 'json'] = fields.response_format ?? []
    if (!formats.includes(format) || !/\/audio\/trans/.test(call.url.pathname)) return rejectWith(format)
    if (fields.stream?.[0] === 'true')
      return sse([
        data({ type: 'transcript.text.delta', delta: 'Hello there.' }),
        data({ type: 'transcript.text.delta', delta: ' And bye.' }),
        data({ type: 'transcript.text.done', text: TEXT, usage }),
      ])
    if (format === 'json') return json({ text: TEXT, usage })
    if (format === 'verbose_json' || format === 'diarized_json')
      return json({ task: 'transcribe', language: 'english', duration: DURATION, text: TEXT, segments, words })
    const text = format === 'text' ? `${TEXT}\n` : format === 'srt' ? SRT : VTT
    return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } })
  }

export const SRT = '1\n00:00:00,000 --> 00:00:00,100\nHello there.\n\n2\n00:00:00,120 --> 00:00:00,200\nAnd bye.\n\n'
export const VTT =
  'WEBVTT\n\n00:00:00.000 --> 00:00:00.100\nHello there.\n\n00:00:00.120 --> 00:00:00.200\nAnd bye.\n\n'

const openaiFields = ['model', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities[]']
const ALL = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']

const getChunk = (text: string) => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 },
})

/** Transcription vendors that reject anything they don't know, like the real vendors. */
export const hearingVendors: Readonly<Record<string, HearingVendor>> = {
  openai: { respond: openaiLike([...openaiFields, 'stream', 'chunking_strategy', 'include[]'], ALL) },
  groq: { respond: openaiLike(openaiFields, ['json', 'text', 'verbose_json']) },
  mistral: {
    respond(call) {
      const fields = getForm(call)
      const known = ['model', 'language', 'temperature', 'diarize', 'context_bias', 'timestamp_granularities', 'stream']
      const unknown = Object.keys(fields ?? {}).find((name) => !known.includes(name))
      if (!fields || unknown !== undefined) return json({ detail: [{ loc: ['body', unknown], msg: 'extra' }] }, 422)
      const spent = { prompt_audio_seconds: DURATION, prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
      const unit = fields.timestamp_granularities?.[0]
      const output = unit === 'word' ? words.map(({ word: text, ...times }) => ({ ...times, text })) : segments
      const own = output.map((item) => ({ type: 'transcription_segment', score: 1, ...item }))
      const full = { model: 'm', text: TEXT, language: 'en', segments: unit ? own : [], usage: spent }
      if (fields.stream?.[0] !== 'true') return json(full)
      return sse([
        data({ type: 'transcription.language', audio_language: 'en' }),
        data({ type: 'transcription.text.delta', text: 'Hello there.' }),
        data({ type: 'transcription.text.delta', text: ' And bye.' }),
        data({ type: 'transcription.done', ...full }),
      ])
    },
  },
  openrouter: {
    respond(call) {
      const {
        model,
        input_audio: audio,
        response_format: format,
        language,
        temperature,
        timestamp_granularities,
        ...others
      } = JSON.parse(call.body)
      const isKnown = Object.keys(others).length === 0 && ['json', 'verbose_json'].includes(format)
      if (!isKnown || audio.format !== 'wav' || !isSame(fromBase64(audio.data)))
        return rejectWith(JSON.stringify(others))
      const spent = { seconds: DURATION, input_tokens: 3, output_tokens: 5, total_tokens: 8, cost: 0.001 }
      return json({ text: TEXT, ...(format === 'verbose_json' && { language: 'en', segments, words }), usage: spent })
    },
  },
  deepgram: {
    respond(call) {
      const { searchParams, pathname } = call.url
      const known = [
        'model',
        'smart_format',
        'detect_language',
        'language',
        'utterances',
        'diarize',
        'keyterm',
        'punctuate',
      ]
      const unknown = [...searchParams.keys()].find((name) => !known.includes(name))
      const isRight = call.headers.get('content-type') === 'audio/wav' && isSame(call.init.body as Uint8Array)
      if (
        unknown !== undefined ||
        !isRight ||
        pathname !== '/v1/listen' ||
        !/^Token /.test(call.headers.get('authorization') ?? '')
      )
        return json({ err_code: 'BAD', err_msg: `Unknown: ${unknown}`, request_id: 'r' }, 400)
      const own = words.map(({ word, ...times }) => ({ ...times, word: word.toLowerCase(), punctuated_word: word }))
      const utterances = segments.map(({ text: transcript, speaker, ...times }) => ({
        ...times,
        transcript,
        speaker: speaker === 'x' ? 0 : 1,
      }))
      return json({
        metadata: { request_id: 'r', duration: DURATION, channels: 1 },
        results: {
          channels: [{ detected_language: 'en', alternatives: [{ transcript: TEXT, confidence: 1, words: own }] }],
          ...(searchParams.has('utterances') && { utterances }),
        },
      })
    },
  },
  elevenlabs: {
    respond(call) {
      const fields = getForm(call)
      const known = [
        'model_id',
        'language_code',
        'temperature',
        'tag_audio_events',
        'timestamps_granularity',
        'diarize',
        'keyterms',
      ]
      const unknown = Object.keys(fields ?? {}).find((name) => !known.includes(name))
      if (
        !fields ||
        unknown !== undefined ||
        !call.headers.get('xi-api-key') ||
        call.url.pathname !== '/v1/speech-to-text'
      )
        return json({ detail: { status: 'invalid', message: `Unknown: ${unknown}` } }, 422)
      const spaced = words.flatMap(({ word, ...times }, index) => [
        { text: word, type: 'word', ...times, speaker_id: index < 2 ? 'speaker_0' : 'speaker_1' },
        { text: ' ', type: 'spacing', start: times.end, end: times.end },
      ])
      const isTimed = fields.timestamps_granularity?.[0] === 'word'
      return json({ language_code: 'eng', text: TEXT, words: isTimed ? spaced : [], audio_duration_secs: DURATION })
    },
  },
  google: {
    respond(call) {
      const { contents, generationConfig = {}, ...others } = JSON.parse(call.body)
      const [audio, text] = contents[0].parts
      const isRight =
        audio.inlineData.mimeType === 'audio/wav' && isSame(fromBase64(audio.inlineData.data)) && text.text
      if (Object.keys(others).length > 0 || !isRight || !call.url.pathname.endsWith(':generateContent'))
        return json({ error: { code: 400, message: 'Unknown', status: 'INVALID_ARGUMENT' } }, 400)
      return json(getChunk(generationConfig.responseSchema ? JSON.stringify({ language: 'en', segments }) : TEXT))
    },
  },
}

/** The vendors, each at a URL with its name as the host. */
export const hearingCatalog: Catalog = Object.fromEntries(
  Object.keys(hearingVendors).map((provider) => {
    const { baseUrl = 'https://x/v1', ...definition } = defaultCatalog[provider] ?? {}
    const address = `http://${provider}.test${new URL(baseUrl).pathname}`
    return [provider, { ...definition, alias: provider, models: [], baseUrl: address }]
  }),
)
