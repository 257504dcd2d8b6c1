import { tokenCount } from '../../../formats/canonical/values.ts'
import { embeddedError } from '../../../formats/errors/embedded.ts'
import type { TokenUsage } from '../../../formats/format.ts'
import { toBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import { bytesOf, type ImageVendor, type MadeImage, optionsFor, refuseMask, refusePictures } from '../image.ts'
import { RATIOS, shapeOf } from '../sizes.ts'

/** The ratios of the newer models. */
const NEWER = [...RATIOS, '1:4', '4:1', '1:8', '8:1']

/** Gemini's image models, also on Vertex AI. https://ai.google.dev/gemini-api/docs/image-generation */
export const google: ImageVendor = {
  name: 'google',
  isOf: ({ format }) => format === 'gemini',
  most: () => 1,
  readsNoAddresses: true,
  request(asked, context) {
    const { model } = context.target
    const isOlder = model.startsWith('gemini-2.5')
    refuseMask(asked, context)
    refusePictures(asked, 14, context)
    const { seed } = optionsFor(asked, ['seed'], context)
    const { ratio, tier } = shapeOf(asked, context, isOlder ? { tiers: ['1K'] } : { ratios: NEWER })
    const imageConfig = {
      ...(ratio !== undefined && { aspectRatio: ratio }),
      ...(tier && !isOlder && { imageSize: tier }),
    }
    const pictures = asked.pictures.map((picture) => {
      const { bytes, type } = bytesOf(picture, context)
      return { inlineData: { mimeType: type, data: toBase64(bytes) } }
    })
    return {
      path: `/models/${model.split('/').map(pathSegment).join('/')}:generateContent`,
      body: {
        contents: [{ role: 'user', parts: [{ text: asked.prompt }, ...pictures] }],
        generationConfig: {
          responseModalities: ['IMAGE'],
          ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
          ...(seed !== undefined && { seed }),
        },
      },
    }
  },
  answer({ candidates, modelVersion, usageMetadata }) {
    const images = partsIn(candidates).flatMap(imageIn)
    if (images.length === 0) return 'an image'
    return {
      images,
      ...(typeof modelVersion === 'string' && { model: modelVersion }),
      usage: usageIn(usageMetadata, images.length),
    }
  },
  errorIn({ error, candidates, promptFeedback }) {
    if (error) return embeddedError(error)
    if (partsIn(candidates).flatMap(imageIn).length > 0) return undefined
    const [first] = Array.isArray(candidates) ? candidates : []
    const reason = (isObject(promptFeedback) && promptFeedback.blockReason) || (isObject(first) && first.finishReason)
    if (typeof reason !== 'string' || !REFUSALS.test(reason)) return undefined
    const message = `The provider refused the request by its content filter (${reason.slice(0, 40)}).`
    return { status: 400, message, error: { code: 400, message, status: 'INVALID_ARGUMENT' } }
  },
}

/** Why there is no image, where that is about the prompt. */
const REFUSALS = /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION|OTHER|NO_IMAGE/

function partsIn(candidates: unknown): JsonObject[] {
  if (!Array.isArray(candidates)) return []
  return candidates.flatMap((candidate) => {
    const content = isObject(candidate) && isObject(candidate.content) ? candidate.content : {}
    return Array.isArray(content.parts) ? content.parts.filter(isObject) : []
  })
}

/** An image in a part, unless it is a draft in the model's thoughts. */
function imageIn({ inlineData, thought }: JsonObject): MadeImage[] {
  if (thought === true || !isObject(inlineData)) return []
  const { data, mimeType } = inlineData
  if (typeof data !== 'string' || data === '') return []
  return [{ base64: data, ...(typeof mimeType === 'string' && { type: mimeType }) }]
}

function usageIn(metadata: unknown, images: number): TokenUsage {
  const units = { image: images }
  if (!isObject(metadata)) return { inputTokens: 0, outputTokens: 0, units }
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount: cached } = metadata
  const inputImageTokens = ofImages(metadata.promptTokensDetails)
  const outputImageTokens = ofImages(metadata.candidatesTokensDetails)
  return {
    inputTokens: tokenCount(promptTokenCount),
    outputTokens: tokenCount(candidatesTokenCount) + tokenCount(thoughtsTokenCount),
    ...(cached !== undefined && { cacheReadTokens: tokenCount(cached) }),
    ...(inputImageTokens !== undefined && { inputImageTokens }),
    ...(outputImageTokens !== undefined && { outputImageTokens }),
    units,
  }
}

/** The tokens of images among those of all modalities. */
function ofImages(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  const counts = details.map((one) => (isObject(one) && one.modality === 'IMAGE' ? tokenCount(one.tokenCount) : 0))
  return counts.reduce((sum, count) => sum + count, 0)
}
