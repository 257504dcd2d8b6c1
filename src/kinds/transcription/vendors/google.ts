import { mediaTokens } from '../../../formats/canonical/media-tokens.ts'
import { tokenCount } from '../../../formats/canonical/values.ts'
import { toBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { Used } from '../../forms.ts'
import { promptFor, transcriptOf } from '../prompt.ts'
import { cannotCarry, type HearingForm, needsTimes, noteLost } from '../transcription.ts'

/** In bytes: a request may have 20 MB, and base64 takes a third more. */
const MAX_INLINE = 14 * 1024 * 1024

/** https://ai.google.dev/gemini-api/docs/audio: a model that hears is told to write down, or to translate, what is said. */
export const google: HearingForm = {
  name: 'google',
  isOf: ({ format }) => format === 'gemini',
  request(asked, { target, warnings }) {
    noteLost(asked, ['language', 'prompt', 'temperature', 'keywords'], warnings)
    const { file, temperature } = asked
    if (file.bytes.length > MAX_INLINE) return cannotCarry('file', target, `takes files of up to ${MAX_INLINE} bytes`)
    return {
      path: `/models/${target.model.split('/').map(pathSegment).join('/')}:generateContent`,
      body: {
        contents: [
          {
            role: 'user',
            parts: [{ inlineData: { mimeType: file.type, data: toBase64(file.bytes) } }, { text: promptFor(asked) }],
          },
        ],
        ...((temperature !== undefined || needsTimes(asked)) && {
          generationConfig: {
            ...(temperature !== undefined && { temperature }),
            ...(needsTimes(asked) && { responseMimeType: 'application/json', responseSchema: SCHEMA }),
          },
        }),
      },
    }
  },
  answer(json, asked) {
    const text = textIn(json)
    if (text === undefined) return 'a text'
    const transcript = transcriptOf(text, asked)
    return typeof transcript === 'string' ? transcript : { ...transcript, ...usageIn(json) }
  },
}

const SCHEMA = {
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

function textIn({ candidates }: JsonObject): string | undefined {
  const [candidate] = Array.isArray(candidates) ? candidates : []
  if (!isObject(candidate)) return undefined
  const parts = isObject(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : []
  const texts = parts.flatMap((part) =>
    isObject(part) && typeof part.text === 'string' && part.thought !== true ? [part.text] : [],
  )
  return texts.length > 0 || candidate.finishReason === 'STOP' ? texts.join('') : undefined
}

function usageIn({ usageMetadata: usage }: JsonObject): Pick<Used, 'usage'> {
  if (!isObject(usage)) return {}
  const output = tokenCount(usage.candidatesTokenCount) + tokenCount(usage.thoughtsTokenCount)
  const media = mediaTokens(usage.promptTokensDetails, undefined)
  return { usage: { inputTokens: tokenCount(usage.promptTokenCount), outputTokens: output, ...media } }
}
