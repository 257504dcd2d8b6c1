import { tokenCount } from '../../../formats/canonical/values.ts'
import { embeddedError } from '../../../formats/errors/embedded.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { PassedForm, SaidPieces } from '../../forms.ts'
import {
  bytesOfSound,
  mappedVoice,
  SOUND_TYPES,
  type SpeechForm,
  type SpeechRequest,
  type SpeechVendor,
  speechForm,
} from '../speech.ts'

/** Requests in OpenAI's form, whose bytes or events are passed on. A voice that the owner has set stands in place of the client's. */
const passed: PassedForm<SpeechRequest> = {
  client: 'openai',
  path: () => '/audio/speech',
  added(asked, { target }) {
    const voice = mappedVoice(asked.voice, target)
    return voice === undefined ? {} : { voice }
  },
  stream: ({ isEvents }) =>
    isEvents ? { of: 'events', read: ({ data }) => saidIn(tryParseJson(data)) } : bytesOfSound((said) => said),
}

function saidIn(json: unknown): SaidPieces<unknown> {
  if (!isObject(json)) return {}
  const error = embeddedError(json.error)
  if (error) return { error }
  if (json.type === 'speech.audio.delta') return { pieces: [json.audio] }
  return json.type === 'speech.audio.done' ? { isLast: true, usage: usageIn(json.usage) } : {}
}

/** The tokens of an answer in OpenAI's words; `undefined` where there are none. */
export function usageIn(usage: unknown): SaidPieces<unknown>['usage'] {
  if (!isObject(usage)) return undefined
  const inputTokens = tokenCount(usage.input_tokens ?? usage.prompt_tokens)
  const outputTokens = tokenCount(usage.output_tokens ?? usage.completion_tokens)
  return inputTokens + outputTokens > 0 ? { inputTokens, outputTokens } : undefined
}

const form = (own: Pick<SpeechVendor, 'name' | 'providers' | 'takes' | 'formats'>, usual?: string): SpeechForm => ({
  ...speechForm({
    ...own,
    otherwise: 'mp3',
    voice: undefined,
    request: (asked, { voice = usual, format, target }) => ({
      path: '/audio/speech',
      body: openaiBody(asked, { voice, format, model: target.model }),
    }),
  }),
  type: (_, sent) => (sent?.startsWith('audio/') ? sent : undefined),
})

const named = (formats: readonly string[]) => Object.fromEntries(formats.map((format) => [format, format]))

/** https://platform.openai.com/docs/api-reference/audio/createSpeech. It demands a voice. */
export const openai: SpeechForm = {
  ...form(
    {
      name: 'openai',
      providers: ['openai', 'azure'],
      takes: ['instructions', 'speed'],
      formats: named(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']),
    },
    'alloy',
  ),
  passes: [passed],
}

/** Every server that speaks OpenAI's form. Few of them stream events, so that these are made here, and the word for them is left out. */
export const compatible: SpeechForm = {
  ...form({
    name: 'compatible',
    takes: ['instructions', 'speed', 'language'],
    formats: named(Object.keys(SOUND_TYPES)),
  }),
  passes: [{ ...passed, isOpen: ({ isEvents }) => !isEvents, without: () => ['stream_format'] }],
}

/** The body of a request in OpenAI's form. */
export const openaiBody = (
  { input, instructions, speed, language }: SpeechRequest,
  { voice, format, model }: { voice: string | undefined; format: string; model: string },
): JsonObject => ({
  model,
  input,
  ...(voice !== undefined && { voice }),
  response_format: format,
  ...(instructions !== undefined && { instructions }),
  ...(speed !== undefined && { speed }),
  ...(language !== undefined && { language }),
})
