import { toBase64 } from '../../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import { readTokenCount } from '../../../formats/canonical/canonical-values.ts'
import { readMediaTokens } from '../../../formats/canonical/media-tokens.ts'
import type { KindResponse } from '../../kind-adapters.ts'
import { needsTimestamps, recordUnsupported, type TranscriptionAdapter, throwFormatMismatch } from '../transcription.ts'
import { parseTranscript, writePrompt } from '../transcription-prompt.ts'

/** Maximum file size, in bytes. A request can be up to 20 MB, and base64 adds a third. */
const MAX_INLINE_BYTES = 14 * 1024 * 1024

/** https://ai.google.dev/gemini-api/docs/audio. A prompt tells a chat model to transcribe or translate the audio. */
export const google: TranscriptionAdapter = {
  name: 'google',
  matches: ({ format }) => format === 'gemini',
  writeRequest(request, { target, warnings }) {
    recordUnsupported(request, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const { file, temperature } = request
    if (file.bytes.length > MAX_INLINE_BYTES)
      return throwFormatMismatch('file', target, `only accepts files of up to ${MAX_INLINE_BYTES} bytes`)
    return {
      path: `/models/${target.model.split('/').map(encodePathSegment).join('/')}:generateContent`,
      body: {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: file.type, data: toBase64(file.bytes) } },
              { text: writePrompt(request) },
            ],
          },
        ],
        ...((temperature !== undefined || needsTimestamps(request)) && {
          generationConfig: {
            ...(temperature !== undefined && { temperature }),
            ...(needsTimestamps(request) && {
              responseMimeType: 'application/json',
              responseSchema: TRANSCRIPT_SCHEMA,
            }),
          },
        }),
      },
    }
  },
  readResponse(json, request) {
    const text = getText(json)
    if (text === undefined) return 'text'
    const transcript = parseTranscript(text, request)
    return typeof transcript === 'string' ? transcript : { ...transcript, ...readGoogleUsage(json) }
  },
}

const TRANSCRIPT_SCHEMA = {
  type: 'OBJECT',
  properties: {
    language: { type: 'STRING' },
    segments: {
      type: 'ARRAY',
      items: {
        type: 'OBJECT',
        properties: {
          start: { type: 'NUMBER' },
          end: { type: 'NUMBER' },
          text: { type: 'STRING' },
          speaker: { type: 'STRING' },
        },
        required: ['start', 'end', 'text'],
      },
    },
  },
  required: ['segments'],
}

function getText({ candidates }: JsonObject): string | undefined {
  const [candidate] = Array.isArray(candidates) ? candidates : []
  if (!isObject(candidate)) return undefined
  const parts = isObject(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : []
  const texts = parts.flatMap((part) =>
    isObject(part) && typeof part.text === 'string' && part.thought !== true ? [part.text] : [],
  )
  return texts.length > 0 || candidate.finishReason === 'STOP' ? texts.join('') : undefined
}

function readGoogleUsage({ usageMetadata: usage }: JsonObject): Pick<KindResponse, 'usage'> {
  if (!isObject(usage)) return {}
  const outputTokens = readTokenCount(usage.candidatesTokenCount) + readTokenCount(usage.thoughtsTokenCount)
  const media = readMediaTokens(usage.promptTokensDetails, undefined)
  return { usage: { inputTokens: readTokenCount(usage.promptTokenCount), outputTokens, ...media } }
}
