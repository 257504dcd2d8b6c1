import { concatBytes, toBase64 } from '../../../src/lib/bytes.ts'
import { writeWavHeader } from '../../../src/protocols/kinds/sound/wav.ts'
import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Catalog } from '../../../src/types.ts'
import { type Call, getBody, json, sse } from '../../pipeline/support/upstream.ts'

/** Samples of 0.2 s at 24 kHz, and files with them. The MP3 file is a single frame. */
const pcm = Uint8Array.from({ length: 9_600 }, (_, index) => (index * 7) % 256)
const mp3 = Uint8Array.from({ length: 417 }, (_, index) => [0xff, 0xfb, 0x90, 0x64][index] ?? 0)
const wav = concatBytes([writeWavHeader(24_000), pcm])
export const samples = { pcm, mp3, wav }

interface Input {
  type: string
  bytes: Uint8Array
  warning?: true
}

interface SoundVendor {
  /** The result for the client, by the requested format. */
  formats: Record<string, Input>
  /** Returns the vendor's response, or a 400 if the request contains anything the vendor doesn't know. */
  respond(call: Call): Response
  /** Returns the events of the vendor's streaming response. */
  events?(sound: Uint8Array): string
}

const MP3: Input = { type: 'audio/mpeg', bytes: mp3 }
const PCM: Input = { type: 'audio/pcm', bytes: pcm }
const WAV: Input = { type: 'audio/wav', bytes: wav }
const createAudio = (type: string): Input => ({ type, bytes: mp3 })
const inPlace = (input: Input): Input => ({ ...input, warning: true })

const rejectWith = (label: string) =>
  json({ error: { message: `Unknown: ${label}`, type: 'invalid_request_error' } }, 400)
/** Returns the fields that aren't in `names`. Nested fields are given as `a.b`. */
function findUnknown(value: unknown, names: readonly string[], at = ''): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return names.includes(at) ? undefined : at
  for (const [name, inner] of Object.entries(value)) {
    const found = findUnknown(inner, names, at === '' ? name : `${at}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

const sound = ({ type, bytes }: Input, headers: Record<string, string> = {}) =>
  new Response(getBody([bytes.subarray(0, 100), bytes.subarray(100)]), {
    headers: { 'content-type': type, ...headers },
  })

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`

const findBody = (call: Call): Record<string, unknown> => JSON.parse(call.body)
const byFormat = (formats: Record<string, Input>, format: unknown) => formats[String(format)]

function openaiLike(fields: readonly string[], formats: Record<string, Input>, key = 'authorization') {
  return (call: Call) => {
    const body = findBody(call)
    const unknown = findUnknown(body, fields)
    if (unknown !== undefined || !call.headers.get(key)) return rejectWith(unknown ?? key)
    const input = byFormat(formats, body.response_format ?? 'mp3')
    if (!call.url.pathname.endsWith('/audio/speech') || !input)
      return rejectWith(`${call.url.pathname} ${body.response_format}`)
    return body.stream_format === 'sse' ? sse(openaiEvents(input.bytes)) : sound(input)
  }
}

const openaiEvents = (bytes: Uint8Array) =>
  [
    data({ type: 'speech.audio.delta', audio: toBase64(bytes.subarray(0, 3)) }),
    data({ type: 'speech.audio.delta', audio: toBase64(bytes.subarray(3)) }),
    data({ type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 } }),
  ].join('')

const mistralEvents = (bytes: Uint8Array) =>
  [
    data({ type: 'speech.audio.delta', audio_data: toBase64(bytes.subarray(0, 3)) }),
    data({ type: 'speech.audio.delta', audio_data: toBase64(bytes.subarray(3)) }),
    data({ type: 'speech.audio.done', usage: { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 } }),
  ].join('')

const googleChunk = (audio: string, extra: object = {}) => ({
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: audio } }] }, ...extra },
  ],
})
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 9 }
const googleEvents = (bytes: Uint8Array) =>
  [
    data(googleChunk(toBase64(bytes.subarray(0, 3)))),
    data({ ...googleChunk(toBase64(bytes.subarray(3)), { finishReason: 'STOP' }), usageMetadata }),
  ].join('')

const groqFormats = {
  mp3: MP3,
  wav: WAV,
  flac: createAudio('audio/flac'),
  ogg: createAudio('audio/ogg'),
  mulaw: createAudio('audio/basic'),
}
const all = { ...groqFormats, opus: createAudio('audio/ogg'), aac: createAudio('audio/aac'), pcm: PCM }
const openaiFormats = {
  mp3: MP3,
  opus: createAudio('audio/ogg'),
  aac: createAudio('audio/aac'),
  flac: createAudio('audio/flac'),
  wav: WAV,
  pcm: PCM,
}

const elevenFormats: Record<string, Input> = {
  mp3_44100_128: MP3,
  wav_24000: WAV,
  pcm_24000: PCM,
  opus_48000_64: createAudio('audio/ogg'),
}
const deepgramFormats: Record<string, Input> = {
  'encoding=mp3': MP3,
  'encoding=linear16&container=wav&sample_rate=24000': WAV,
  'encoding=linear16&container=none&sample_rate=24000': PCM,
  'encoding=opus&container=ogg': createAudio('audio/ogg'),
  'encoding=flac': createAudio('audio/flac'),
  'encoding=aac': createAudio('audio/aac'),
}

/** Speech vendors that reject anything they don't know, like the real vendors. */
export const soundVendors: Readonly<Record<string, SoundVendor>> = {
  openai: {
    formats: openaiFormats,
    respond: openaiLike(
      ['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'],
      openaiFormats,
    ),
    events: openaiEvents,
  },
  own: {
    formats: all,
    respond: openaiLike(['model', 'input', 'voice', 'instructions', 'response_format', 'speed'], all),
  },
  groq: {
    // https://github.com/EKKOLearnAI/hermes-studio/issues/2328
    formats: { wav: WAV, mp3: inPlace(WAV), flac: inPlace(WAV), opus: inPlace(WAV), aac: inPlace(WAV) },
    respond: openaiLike(['model', 'input', 'voice', 'response_format', 'sample_rate', 'speed'], { wav: WAV }),
  },
  openrouter: {
    formats: { mp3: MP3, pcm: PCM, wav: WAV, opus: inPlace(MP3), flac: inPlace(MP3) },
    respond: openaiLike(['model', 'input', 'voice', 'instructions', 'response_format', 'speed'], {
      mp3: MP3,
      pcm: PCM,
    }),
  },
  mistral: {
    formats: {
      mp3: MP3,
      wav: WAV,
      pcm: PCM,
      flac: createAudio('audio/flac'),
      opus: createAudio('audio/ogg'),
      aac: inPlace(MP3),
    },
    respond(call) {
      const body = findBody(call)
      const fields = ['model', 'input', 'voice_id', 'ref_audio', 'response_format', 'stream']
      const unknown =
        findUnknown(body, fields) ?? (/^[a-z]{2}_\w+_\w+$/.test(String(body.voice_id)) ? undefined : 'voice_id')
      const input = byFormat(openaiFormats, body.response_format)
      if (unknown !== undefined || !input || body.response_format === 'aac')
        return json(
          { detail: [{ loc: ['body', unknown], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] },
          422,
        )
      return body.stream ? sse(mistralEvents(input.bytes)) : json({ audio_data: toBase64(input.bytes) })
    },
    events: mistralEvents,
  },
  together: {
    formats: { mp3: MP3, wav: WAV, pcm: PCM, opus: inPlace(MP3), flac: inPlace(MP3), aac: inPlace(MP3) },
    respond(call) {
      const fields = ['model', 'input', 'voice', 'language', 'response_format', 'response_encoding', 'sample_rate']
      const { voice, response_encoding: encoding } = findBody(call)
      if (voice === 'alloy') return rejectWith('voice')
      return openaiLike(fields, { mp3: MP3, wav: WAV, ...(encoding === 'pcm_s16le' && { raw: PCM }) })(call)
    },
  },
  elevenlabs: {
    formats: { mp3: MP3, wav: WAV, pcm: PCM, opus: createAudio('audio/ogg'), aac: inPlace(MP3), flac: inPlace(MP3) },
    respond(call) {
      const unknown = findUnknown(findBody(call), ['text', 'model_id', 'language_code', 'voice_settings.speed'])
      const input = byFormat(elevenFormats, call.url.searchParams.get('output_format'))
      const isPath = /^\/v1\/text-to-speech\/[\w-]+\/stream$/.test(call.url.pathname)
      if (
        unknown !== undefined ||
        !input ||
        !isPath ||
        !call.headers.get('xi-api-key') ||
        call.headers.get('authorization')
      )
        return json({ detail: { status: 'invalid', message: `Unknown: ${unknown ?? call.url.href}` } }, 422)
      return sound(input, { 'character-cost': '7' })
    },
  },
  deepgram: {
    formats: {
      mp3: MP3,
      wav: WAV,
      pcm: PCM,
      opus: createAudio('audio/ogg'),
      flac: createAudio('audio/flac'),
      aac: createAudio('audio/aac'),
    },
    respond(call) {
      const query = call.url.search.replace(/^\?model=voice-model&/, '')
      const input = deepgramFormats[query]
      const unknown = findUnknown(findBody(call), ['text'])
      const isKey = call.headers.get('authorization')?.startsWith('Token ')
      if (unknown !== undefined || !input || call.url.pathname !== '/v1/speak' || !isKey)
        return json({ err_code: 'BAD', err_msg: `Unknown: ${unknown ?? call.url.href}`, request_id: 'r' }, 400)
      return sound(input, { 'dg-char-count': '7' })
    },
  },
  google: {
    formats: { pcm: PCM, wav: WAV, mp3: inPlace(WAV), opus: inPlace(WAV), flac: inPlace(WAV), aac: inPlace(WAV) },
    respond(call) {
      const known = ['contents', 'generationConfig.responseModalities']
      const voice = 'generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName'
      const unknown = findUnknown(findBody(call), [...known, voice])
      const { pathname, search } = call.url
      if (unknown !== undefined)
        return json({ error: { code: 400, message: unknown, status: 'INVALID_ARGUMENT' } }, 400)
      if (pathname.endsWith('/models/voice-model:streamGenerateContent') && search === '?alt=sse')
        return sse(googleEvents(pcm))
      if (!pathname.endsWith('/models/voice-model:generateContent')) return rejectWith(pathname)
      return json({ ...googleChunk(toBase64(pcm), { finishReason: 'STOP' }), usageMetadata })
    },
    events: googleEvents,
  },
}

/** The vendors, each at a URL with its name as the host. */
export const vendorCatalog: Catalog = Object.fromEntries(
  Object.keys(soundVendors).map((provider) => {
    const { baseUrl = 'https://x/v1', ...definition } = defaultCatalog[provider] ?? {}
    return [
      provider,
      { ...definition, alias: provider, models: [], baseUrl: `http://${provider}.test${new URL(baseUrl).pathname}` },
    ]
  }),
)
