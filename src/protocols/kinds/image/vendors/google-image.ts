import { toBase64 } from '../../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import { readTokenCount } from '../../../formats/canonical/canonical-values.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import type { TokenUsage } from '../../../formats/format.ts'
import {
  getImageBytes,
  type ImageVendor,
  limitInputImages,
  type OutputImage,
  pickOptions,
  rejectMask,
} from '../image.ts'
import { ASPECT_RATIOS, chooseRatioAndTier } from '../image-sizes.ts'

const GEMINI_RATIOS = [...ASPECT_RATIOS, '1:4', '4:1', '1:8', '8:1']

/** Gemini's image models, also on Vertex AI. https://ai.google.dev/gemini-api/docs/image-generation */
export const google: ImageVendor = {
  name: 'google',
  matches: ({ format }) => format === 'gemini',
  getMaxEntries: () => 1,
  needsImageBytes: true,
  writeRequest(request, context) {
    const { model } = context.target
    const isOlderModel = model.startsWith('gemini-2.5')
    rejectMask(request, context)
    limitInputImages(request, 14, context)
    const { seed } = pickOptions(request, ['seed'], context)
    const { ratio, tier } = chooseRatioAndTier(
      request,
      context,
      isOlderModel ? { tiers: ['1K'] } : { ratios: GEMINI_RATIOS },
    )
    const imageConfig = {
      ...(ratio !== undefined && { aspectRatio: ratio }),
      ...(tier && !isOlderModel && { imageSize: tier }),
    }
    const imageParts = request.inputImages.map((image) => {
      const { bytes, type } = getImageBytes(image, context)
      return { inlineData: { mimeType: type, data: toBase64(bytes) } }
    })
    return {
      path: `/models/${model.split('/').map(encodePathSegment).join('/')}:generateContent`,
      body: {
        contents: [{ role: 'user', parts: [{ text: request.prompt }, ...imageParts] }],
        generationConfig: {
          responseModalities: ['IMAGE'],
          ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
          ...(seed !== undefined && { seed }),
        },
      },
    }
  },
  readResponse({ candidates, modelVersion, usageMetadata }) {
    const images = getParts(candidates).flatMap(readImage)
    if (images.length === 0) return 'an image'
    return {
      images,
      ...(typeof modelVersion === 'string' && { model: modelVersion }),
      usage: readUsage(usageMetadata, images.length),
    }
  },
  findError({ error, candidates, promptFeedback }) {
    if (error) return readEmbeddedError(error)
    if (getParts(candidates).flatMap(readImage).length > 0) return undefined
    const [first] = Array.isArray(candidates) ? candidates : []
    const reason = (isObject(promptFeedback) && promptFeedback.blockReason) || (isObject(first) && first.finishReason)
    if (typeof reason !== 'string' || !REFUSAL_REASONS.test(reason)) return undefined
    const message = `The provider's content filter blocked the request (${reason.slice(0, 40)}).`
    return { status: 400, message, error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
  },
}

/** Block and finish reasons that blame the prompt for the missing image. */
const REFUSAL_REASONS = /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION|OTHER|NO_IMAGE/

function getParts(candidates: unknown): JsonObject[] {
  if (!Array.isArray(candidates)) return []
  return candidates.flatMap((candidate) => {
    const content = isObject(candidate) && isObject(candidate.content) ? candidate.content : {}
    return Array.isArray(content.parts) ? content.parts.filter(isObject) : []
  })
}

/** Reads an image. Skips drafts in the model's thoughts. */
function readImage({ inlineData, thought }: JsonObject): OutputImage[] {
  if (thought === true || !isObject(inlineData)) return []
  const { data, mimeType } = inlineData
  if (typeof data !== 'string' || data === '') return []
  return [{ base64: data, ...(typeof mimeType === 'string' && { type: mimeType }) }]
}

function readUsage(metadata: unknown, imageCount: number): TokenUsage {
  const units = { image: imageCount }
  if (!isObject(metadata)) return { inputTokens: 0, outputTokens: 0, units }
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount: cached } = metadata
  const inputImageTokens = countImageTokens(metadata.promptTokensDetails)
  const outputImageTokens = countImageTokens(metadata.candidatesTokensDetails)
  return {
    inputTokens: readTokenCount(promptTokenCount),
    outputTokens: readTokenCount(candidatesTokenCount) + readTokenCount(thoughtsTokenCount),
    ...(cached !== undefined && { cacheReadTokens: readTokenCount(cached) }),
    ...(inputImageTokens !== undefined && { inputImageTokens }),
    ...(outputImageTokens !== undefined && { outputImageTokens }),
    units,
  }
}

function countImageTokens(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.map((detail) =>
    isObject(detail) && detail.modality === 'IMAGE' ? readTokenCount(detail.tokenCount) : 0,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
