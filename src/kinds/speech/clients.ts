import { fieldsOf } from '../../formats/canonical/fields.ts'
import { encodeUtf8, toBase64 } from '../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientForm } from '../forms.ts'
import { SOUND_TYPES, type SoundPiece, type Speech, type SpeechRequest } from './speech.ts'

const KNOWN: ReadonlySet<string> = new Set([
  ...['model', 'input', 'voice', 'response_format', 'speed', 'instructions', 'stream_format', 'language', 'stream'],
])

/** OpenAI's form: the answer is the bytes of a file, or events with parts of it. */
export const openai: ClientForm<SpeechRequest, Speech, SoundPiece> = {
  read(body, { warnings }) {
    const { input, voice, response_format: format = 'mp3', speed, stream_format: streamFormat } = body
    if (typeof input !== 'string' || input.trim() === '')
      return warnings.refuse('input', 'is required: the text to be spoken.')
    if (typeof format !== 'string' && format !== null)
      return warnings.refuse('response_format', `must be one of ${Object.keys(SOUND_TYPES).join(', ')}.`)
    if (streamFormat !== undefined && streamFormat !== null && streamFormat !== 'audio' && streamFormat !== 'sse')
      return warnings.refuse('stream_format', 'must be "audio" or "sse".')
    if (speed !== undefined && speed !== null && !isSpeed(speed)) return warnings.refuse('speed', SPEEDS)
    const fields = fieldsOf(body, '', warnings)
    return {
      input,
      voice: voiceIn(voice) ?? (voice === undefined || voice === null ? undefined : refuseVoice()),
      format: format ?? 'mp3',
      isEvents: streamFormat === 'sse',
      instructions: fields.text('instructions'),
      speed: isSpeed(speed) ? speed : undefined,
      language: fields.text('language'),
      others: Object.keys(body).filter((name) => !KNOWN.has(name) && body[name] !== null),
    }

    function refuseVoice(): never {
      return warnings.refuse('voice', 'must be the name of a voice, or an object with its id.')
    }
  },
  write() {
    throw new TypeError('Speech is never JSON.')
  },
  stream({ isEvents, format }) {
    return {
      isEvents,
      type: (sent) => (isEvents ? 'text/event-stream' : (sent ?? SOUND_TYPES[format] ?? 'application/octet-stream')),
      piece: (audio) => (isEvents ? event({ type: 'speech.audio.delta', audio: toBase64(audio) }) : audio),
      end(usage) {
        if (!isEvents) return undefined
        const { inputTokens = 0, outputTokens = 0 } = usage ?? {}
        const tokens = {
          input_tokens: inputTokens,
          output_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        }
        return event({ type: 'speech.audio.done', usage: tokens })
      },
      whole: ({ audio }) => [audio],
    }
  },
}

/** The speeds of OpenAI's clients, which others have as well. */
export const isSpeed = (speed: unknown): speed is number => typeof speed === 'number' && speed >= 0.25 && speed <= 4
export const SPEEDS = 'must be a number from 0.25 to 4.'

const voiceIn = (voice: unknown): string | undefined => {
  const name = isObject(voice) ? voice.id : voice
  return typeof name === 'string' && name !== '' ? name : undefined
}

const event = (json: JsonObject) => encodeUtf8(`data: ${JSON.stringify(json)}\n\n`)
