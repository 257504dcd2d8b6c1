import { mediaTokens } from '../../../formats/canonical/media-tokens.ts'
import { tokenCount } from '../../../formats/canonical/values.ts'
import { embeddedError } from '../../../formats/errors/embedded.ts'
import { concatBytes, fromBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { Used } from '../../forms.ts'
import { speechForm } from '../speech.ts'

/** https://ai.google.dev/gemini-api/docs/speech-generation. Its sound is raw samples of 24 kHz; `instructions` stand before the text. */
export const google = speechForm({
  name: 'google',
  isOf: ({ format }) => format === 'gemini',
  formats: { pcm: 'pcm' },
  otherwise: 'wav',
  voice: 'Kore',
  takes: ['instructions'],
  streamsEventsOnly: true,
  request: ({ input, instructions, isEvents }, { voice, target }) => ({
    path: `/models/${target.model.split('/').map(pathSegment).join('/')}:${isEvents ? 'streamGenerateContent' : 'generateContent'}`,
    ...(isEvents && { query: { alt: 'sse' } }),
    body: {
      contents: [{ role: 'user', parts: [{ text: instructions ? `${instructions}: ${input}` : input }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      },
    },
  }),
  event(json) {
    const error = embeddedError(json.error)
    if (error) return { error }
    const { audio, isLast } = soundIn(json)
    if (isLast && audio.length === 0 && blocked(json))
      return { error: { status: 400, message: 'The provider refuses to speak this text.' } }
    return { pieces: audio, isLast, ...usageIn(json) }
  },
  answer(json) {
    const { audio } = soundIn(json)
    return audio.length > 0 ? { audio: concatBytes(audio), ...usageIn(json) } : 'sound'
  },
  errorIn(json) {
    if (blocked(json)) return { status: 400, message: 'The provider refuses to speak this text.' }
    return embeddedError(json.error)
  },
})

function soundIn({ candidates }: JsonObject): { audio: Uint8Array[]; isLast: boolean } {
  const [candidate] = Array.isArray(candidates) ? candidates : []
  if (!isObject(candidate)) return { audio: [], isLast: false }
  const { content, finishReason } = candidate
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : []
  const audio = parts.flatMap((part) => {
    const data = isObject(part) && isObject(part.inlineData) ? part.inlineData.data : undefined
    return typeof data === 'string' ? [fromBase64(data)] : []
  })
  return { audio, isLast: typeof finishReason === 'string' && finishReason !== '' }
}

/** Has a filter refused the text? */
function blocked({ promptFeedback, candidates }: JsonObject): boolean {
  if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') return true
  const [candidate] = Array.isArray(candidates) ? candidates : []
  return isObject(candidate) && /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/.test(String(candidate.finishReason))
}

function usageIn({ usageMetadata: usage }: JsonObject): Pick<Used, 'usage'> {
  if (!isObject(usage)) return {}
  return {
    usage: {
      inputTokens: tokenCount(usage.promptTokenCount),
      outputTokens: tokenCount(usage.candidatesTokenCount),
      ...mediaTokens(undefined, usage.candidatesTokensDetails),
    },
  }
}
