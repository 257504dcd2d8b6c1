import { concatBytes, fromBase64 } from '../../../../lib/bytes.ts'
import { formatScalar, isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import { readTokenCount } from '../../../formats/canonical/canonical-values.ts'
import { readMediaTokens } from '../../../formats/canonical/media-tokens.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import type { KindResponse } from '../../kind-adapters.ts'
import { createSpeechAdapter } from '../speech.ts'

/** https://ai.google.dev/gemini-api/docs/speech-generation. Responds with raw samples at 24 kHz. `instructions` are prepended to the text. */
export const google = createSpeechAdapter({
  name: 'google',
  matches: ({ format }) => format === 'gemini',
  formats: { pcm: 'pcm' },
  fallbackFormat: 'wav',
  voice: 'Kore',
  supports: ['instructions'],
  streamsEventsOnly: true,
  writeRequest: ({ input, instructions, expectsEvents }, { voice, target }) => ({
    path: `/models/${target.model.split('/').map(encodePathSegment).join('/')}:${expectsEvents ? 'streamGenerateContent' : 'generateContent'}`,
    ...(expectsEvents && { query: { alt: 'sse' } }),
    body: {
      contents: [{ role: 'user', parts: [{ text: instructions ? `${instructions}: ${input}` : input }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
      },
    },
  }),
  readEvent(json) {
    const error = readEmbeddedError(json.error)
    if (error) return { error }
    const { audio, isLast } = readAudio(json)
    if (isLast && audio.length === 0 && isBlocked(json))
      return { error: { status: 400, message: 'The provider declined to speak this text.' } }
    return { chunks: audio, isLast, ...readUsage(json) }
  },
  readResponse(json) {
    const { audio } = readAudio(json)
    return audio.length > 0 ? { audio: concatBytes(audio), ...readUsage(json) } : 'sound'
  },
  findError(json) {
    if (isBlocked(json)) return { status: 400, message: 'The provider declined to speak this text.' }
    return readEmbeddedError(json.error)
  },
})

function readAudio({ candidates }: JsonObject): { audio: Uint8Array[]; isLast: boolean } {
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

/** Returns whether a content filter rejected the text. */
function isBlocked({ promptFeedback, candidates }: JsonObject): boolean {
  if (isObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') return true
  const [candidate] = Array.isArray(candidates) ? candidates : []
  return isObject(candidate) && /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/.test(formatScalar(candidate.finishReason))
}

function readUsage({ usageMetadata: usage }: JsonObject): Pick<KindResponse, 'usage'> {
  if (!isObject(usage)) return {}
  return {
    usage: {
      inputTokens: readTokenCount(usage.promptTokenCount),
      outputTokens: readTokenCount(usage.candidatesTokenCount),
      ...readMediaTokens(undefined, usage.candidatesTokensDetails),
    },
  }
}
