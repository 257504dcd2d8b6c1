import { reportedCost } from '../../formats/canonical/reported-cost.ts'
import { tokenCount } from '../../formats/canonical/values.ts'
import { embeddedError } from '../../formats/errors/embedded.ts'
import type { TokenUsage } from '../../formats/format.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { VendorStream } from '../forms.ts'
import type { MadeImage } from './image.ts'
import { saidNames } from './prices.ts'

/** An image of a stream. */
export interface ImagePiece {
  image: MadeImage
  /** Its number, from 0, if it is not complete. */
  partial?: number
  /** What the vendor says of it, by the names of OpenAI. */
  said?: JsonObject | undefined
}

/** The facts of an answer, or of an event, that are the same at vendors of OpenAI's form. */
export function saidIn(json: JsonObject): JsonObject {
  const names = ['background', 'output_format', 'quality', 'size', 'safety_identifier']
  return Object.fromEntries(names.flatMap((name) => (typeof json[name] === 'string' ? [[name, json[name]]] : [])))
}

/** The usage of an answer with so many images, in either of OpenAI's spellings. */
export function usageIn(usage: unknown, images: number): TokenUsage {
  const units = { image: images }
  if (!isObject(usage)) return { inputTokens: 0, outputTokens: 0, units }
  const { input_tokens_details: inputs, output_tokens_details: outputs } = usage
  return {
    inputTokens: tokenCount(usage.input_tokens ?? usage.prompt_tokens),
    outputTokens: tokenCount(usage.output_tokens ?? usage.completion_tokens),
    ...(isObject(inputs) && { inputImageTokens: tokenCount(inputs.image_tokens) }),
    ...(isObject(outputs) && { outputImageTokens: tokenCount(outputs.image_tokens) }),
    ...reportedCost(usage),
    units,
  }
}

/** Reads events of OpenAI's form, which ends with the last of so many images; some servers send `[DONE]` besides. */
export function imageEvents(count: number): VendorStream<ImagePiece> {
  let complete = 0
  return {
    of: 'events',
    read({ data }) {
      const json = data.trim() === '[DONE]' ? undefined : tryParseJson(data)
      if (!isObject(json)) return data.trim() === '[DONE]' && complete > 0 ? { isLast: true } : {}
      const { type, error, b64_json: base64, url, media_type: mediaType, partial_image_index: index } = json
      if (error || type === 'error') return { error: embeddedError(error ?? json) }
      if (typeof base64 !== 'string' && typeof url !== 'string') return {}
      const image = {
        ...(typeof base64 === 'string' && { base64 }),
        ...(typeof url === 'string' && { url }),
        ...(typeof mediaType === 'string' && { type: mediaType }),
      }
      if (typeof type === 'string' && type.endsWith('.partial_image'))
        return { pieces: [{ image, partial: typeof index === 'number' ? index : 0, said: saidIn(json) }] }
      if (typeof type !== 'string' || !type.endsWith('.completed')) return {}
      complete++
      return {
        pieces: [{ image, said: saidIn(json) }],
        usage: { ...usageIn(json.usage, complete), imageNames: saidNames(json) },
        ...(complete >= count && { isLast: true }),
      }
    },
  }
}
