import { type Fields, fieldsOf } from '../formats/canonical/fields.ts'
import type { Warnings } from '../formats/canonical/warnings.ts'
import type { TokenUsage } from '../formats/format.ts'
import { camelCased } from '../formats/gemini/client/spelling.ts'
import { isObject, type JsonObject } from '../lib/json.ts'

/*
 * Requests of Google's clients, by `generateContent`, for what models of other kinds than chat make:
 * https://ai.google.dev/api/generate-content. Both spellings of their members are read.
 */

/** What such a request says. */
export interface GeminiRequest {
  /** `generationConfig`. */
  config: Fields
  /** All texts of the user, a line each. */
  text: string
  /** The system instruction, if there is one. */
  system: string | undefined
  /** The media of all contents, each as a data URL or an address. */
  media: readonly string[]
  /** Adds a warning for each member of the request that no reader has asked for. Call it last. */
  drop(...inner: ReadonlyArray<Fields | undefined>): void
}

/** Reads a request of Google's clients. */
export function geminiRequest(json: JsonObject, warnings: Warnings): GeminiRequest {
  const body = fieldsOf(camelCased(json), '', warnings)
  const config = body.fields('generationConfig') ?? fieldsOf({}, 'generationConfig', warnings)
  config.ignore('responseModalities')
  const parts = partsIn(body.any('contents'))
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const system = partsIn(body.any('systemInstruction')).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  return {
    config,
    text: texts.join('\n'),
    system: system.length > 0 ? system.join('\n') : undefined,
    media: parts.flatMap(mediaIn),
    drop(...inner) {
      body.ignore('model')
      for (const fields of [...inner, config, body]) fields?.drop()
    },
  }
}

/** The parts of one content, of several, or of texts in their place. */
function partsIn(contents: unknown): JsonObject[] {
  return [contents].flat().flatMap((content) => {
    if (typeof content === 'string') return [{ text: content }]
    if (!isObject(content)) return []
    const { parts = content } = content
    return [parts]
      .flat()
      .flatMap((part) => (typeof part === 'string' ? [{ text: part }] : isObject(part) ? [part] : []))
  })
}

function mediaIn({ inlineData, fileData }: JsonObject): string[] {
  if (isObject(inlineData)) return [`data:${String(inlineData.mimeType)};base64,${String(inlineData.data)}`]
  return isObject(fileData) ? [String(fileData.fileUri)] : []
}

/** One answer, or event, with these media; `usage` and `finishReason` with the last. */
export const geminiAnswer = (
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
  ...(usage && isLast && { usageMetadata: usageMetadata(usage) }),
  modelVersion: model,
  responseId: id,
})

const usageMetadata = ({ inputTokens, outputTokens }: TokenUsage) => ({
  promptTokenCount: inputTokens,
  candidatesTokenCount: outputTokens,
  totalTokenCount: inputTokens + outputTokens,
})
