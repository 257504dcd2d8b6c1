import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import { readCost } from '../../formats/canonical/reported-cost.ts'
import { readEmbeddedError } from '../../formats/errors/embedded-errors.ts'
import type { TokenUsage } from '../../formats/format.ts'
import type { VendorStream } from '../kind-adapters.ts'
import type { OutputImage } from './image.ts'
import { getPriceNames } from './image-prices.ts'

/** A complete or partial image in a stream. */
export interface ImageChunk {
  image: OutputImage
  /** The index of the partial image, from 0. Absent if the image is complete. */
  partialIndex?: number
  /** The vendor's metadata for the image, under OpenAI's field names. */
  metadata?: JsonObject | undefined
}

/** Reads the image metadata that OpenAI-compatible vendors share, from a response or an event. */
export function readImageMetadata(json: JsonObject): JsonObject {
  const names = ['background', 'output_format', 'quality', 'size', 'safety_identifier']
  return Object.fromEntries(names.flatMap((name) => (typeof json[name] === 'string' ? [[name, json[name]]] : [])))
}

/** Reads the usage for a response with this number of images, under either of OpenAI's field names. */
export function readImageUsage(usage: unknown, imageCount: number): TokenUsage {
  const units = { image: imageCount }
  if (!isObject(usage)) return { inputTokens: 0, outputTokens: 0, units }
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } = usage
  return {
    inputTokens: readTokenCount(usage.input_tokens ?? usage.prompt_tokens),
    outputTokens: readTokenCount(usage.output_tokens ?? usage.completion_tokens),
    ...(isObject(inputDetails) && { inputImageTokens: readTokenCount(inputDetails.image_tokens) }),
    ...(isObject(outputDetails) && { outputImageTokens: readTokenCount(outputDetails.image_tokens) }),
    ...readCost(usage),
    units,
  }
}

/** Reads OpenAI's events until the last of `count` images. Some servers also send `[DONE]`. */
export function createImageStream(count: number): VendorStream<ImageChunk> {
  let completedCount = 0
  return {
    framing: 'events',
    read({ data }) {
      const json = data.trim() === '[DONE]' ? undefined : tryParseJson(data)
      if (!isObject(json)) return data.trim() === '[DONE]' && completedCount > 0 ? { isLast: true } : {}
      const { type, error, b64_json: base64, url, media_type: mediaType, partial_image_index: index } = json
      if (error || type === 'error')
        return {
          error: readEmbeddedError(error ?? json),
          ...(isObject(json.usage) && { usage: readImageUsage(json.usage, completedCount) }),
        }
      if (typeof base64 !== 'string' && typeof url !== 'string') return {}
      const image = {
        ...(typeof base64 === 'string' && { base64 }),
        ...(typeof url === 'string' && { url }),
        ...(typeof mediaType === 'string' && { type: mediaType }),
      }
      if (typeof type === 'string' && type.endsWith('.partial_image'))
        return {
          chunks: [{ image, partialIndex: typeof index === 'number' ? index : 0, metadata: readImageMetadata(json) }],
        }
      if (typeof type !== 'string' || !type.endsWith('.completed')) return {}
      completedCount++
      return {
        chunks: [{ image, metadata: readImageMetadata(json) }],
        usage: { ...readImageUsage(json.usage, completedCount), imageNames: getPriceNames(json) },
        ...(completedCount >= count && { isLast: true }),
      }
    },
  }
}
