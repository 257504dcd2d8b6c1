import { encodeUtf8, toBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { readFields } from '../../formats/canonical/canonical-fields.ts'
import type { ClientAdapter } from '../kind-adapters.ts'
import { AUDIO_TYPES, type AudioChunk, type SpeechRequest, type SpeechResponse } from './speech.ts'

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format', 'language', 'stream'],
])

/** OpenAI's API. A response is the bytes of a file, or events with parts of the file. */
export const openai: ClientAdapter<SpeechRequest, SpeechResponse, AudioChunk> = {
  read(body, { warnings }) {
    const { input, voice, response_format: format = 'mp3', speed, stream_format: streamFormat } = body
    if (typeof input !== 'string' || input.trim() === '')
      return warnings.reject('input', 'is required: the text to speak.')
    if (typeof format !== 'string' && format !== null)
      return warnings.reject('response_format', `must be one of ${Object.keys(AUDIO_TYPES).join(', ')}.`)
    if (streamFormat !== undefined && streamFormat !== null && streamFormat !== 'audio' && streamFormat !== 'sse')
      return warnings.reject('stream_format', 'must be "audio" or "sse".')
    if (speed !== undefined && speed !== null && !isSpeed(speed)) return warnings.reject('speed', SPEED_ERROR)
    const fields = readFields(body, '', warnings)
    return {
      input,
      voice: readVoice(voice) ?? (voice === undefined || voice === null ? undefined : rejectVoice()),
      format: format ?? 'mp3',
      expectsEvents: streamFormat === 'sse',
      instructions: fields.string('instructions'),
      speed: isSpeed(speed) ? speed : undefined,
      language: fields.string('language'),
      otherFieldNames: Object.keys(body).filter((name) => !KNOWN_FIELDS.has(name) && body[name] !== null),
    }

    function rejectVoice(): never {
      return warnings.reject('voice', 'must be a voice name or an object with a voice ID.')
    }
  },
  write() {
    throw new TypeError('Speech is never JSON.')
  },
  createStream({ expectsEvents, format }) {
    return {
      writesEvents: expectsEvents,
      getContentType: (vendorType) =>
        expectsEvents ? 'text/event-stream' : (vendorType ?? AUDIO_TYPES[format] ?? 'application/octet-stream'),
      writeChunk: (audio) =>
        expectsEvents ? writeEvent({ type: 'speech.audio.delta', audio: toBase64(audio) }) : audio,
      writeEnd(usage) {
        if (!expectsEvents) return undefined
        const { inputTokens = 0, outputTokens = 0 } = usage ?? {}
        const tokens = {
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        }
        return writeEvent({ type: 'speech.audio.done', usage: tokens })
      },
      splitResponse: ({ audio }) => [audio],
    }
  },
}

/** Returns whether a value is a speed that clients of OpenAI and other vendors may send. */
export const isSpeed = (speed: unknown): speed is number => typeof speed === 'number' && speed >= 0.25 && speed <= 4
export const SPEED_ERROR = 'must be a number from 0.25 to 4.'

const readVoice = (voice: unknown): string | undefined => {
  const name = isObject(voice) ? voice.id : voice
  return typeof name === 'string' && name !== '' ? name : undefined
}

const writeEvent = (json: JsonObject) => encodeUtf8(`data: ${JSON.stringify(json)}\n\n`)
