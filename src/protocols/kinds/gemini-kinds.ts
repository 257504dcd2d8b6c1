import { isObject, type JsonObject } from '../../lib/json.ts'
import { type Fields, readFields } from '../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../formats/canonical/canonical-warnings.ts'
import type { TokenUsage } from '../formats/format.ts'
import { toCamelCase } from '../formats/gemini/client/gemini-client-spelling.ts'

/*
 * `generateContent` requests from Google's clients for kinds other than chat: https://ai.google.dev/api/generate-content. Field names may be in camel
 * case or snake case.
 */

/** A `generateContent` request for a kind other than chat. */
export interface GeminiRequest {
  /** The fields of `generationConfig`. */
  config: Fields
  /** The user's entire text, one part per line. */
  text: string
  system: string | undefined
  /** The media of all contents, as data URLs or URLs. */
  media: readonly string[]
  /** Adds a warning for each unread field. Call it last. */
  dropUnread(...nestedFields: ReadonlyArray<Fields | undefined>): void
}

/** Reads a `generateContent` request. Throws `INVALID_REQUEST` if inline or file data is malformed. */
export function readGeminiRequest(json: JsonObject, warnings: Warnings): GeminiRequest {
  const body = readFields(toCamelCase(json), '', warnings)
  const config = body.fields('generationConfig') ?? readFields({}, 'generationConfig', warnings)
  config.ignore('responseModalities')
  const parts = readParts(body.any('contents'))
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const system = readParts(body.any('systemInstruction')).flatMap(({ text }) =>
    typeof text === 'string' ? [text] : [],
  )
  return {
    config,
    text: texts.join('\n'),
    system: system.length > 0 ? system.join('\n') : undefined,
    media: parts.flatMap((part) => readMedia(part, warnings)),
    dropUnread(...nestedFields) {
      body.ignore('model')
      for (const fields of [...nestedFields, config, body]) fields?.dropUnread()
    },
  }
}

/** Reads the parts of one or more contents, which may also be strings. */
function readParts(contents: unknown): JsonObject[] {
  return [contents].flat().flatMap((content) => {
    if (typeof content === 'string') return [{ text: content }]
    if (!isObject(content)) return []
    const { parts = content } = content
    return [parts]
      .flat()
      .flatMap((part) => (typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : []))
  })
}

function readMedia({ inlineData, fileData }: JsonObject, warnings: Warnings): string[] {
  if (isObject(inlineData)) {
    const { mimeType, data } = inlineData
    if (typeof mimeType === 'string' && typeof data === 'string') return [`data:${mimeType};base64,${data}`]
    return warnings.reject('contents', 'inline data must have "mimeType" and "data" as strings.')
  }
  if (!isObject(fileData)) return []
  return typeof fileData.fileUri === 'string'
    ? [fileData.fileUri]
    : warnings.reject('contents', 'file data must have "fileUri" as a string.')
}

/** Writes a response or an event that contains these media. Only the last event has `usage` and `finishReason`. */
export const writeGeminiResponse = (
  media: ReadonlyArray<{ mimeType: string; data: string }>,
  { model, id, usage, isLast }: { model: string; id: string; usage?: TokenUsage | undefined; isLast: boolean },
): JsonObject => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: media.map((inlineData) => ({ inlineData })) },
      ...(isLast && { finishReason: 'STOP' }),
    },
  ],
  ...(usage && isLast && { usageMetadata: writeUsage(usage) }),
  modelVersion: model,
  responseId: id,
})

const writeUsage = ({ inputTokens, outputTokens }: TokenUsage) => ({
  promptTokenCount: inputTokens,
  candidatesTokenCount: outputTokens,
  totalTokenCount: inputTokens + outputTokens,
})
