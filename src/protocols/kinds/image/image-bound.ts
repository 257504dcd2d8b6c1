import { formatScalar, type JsonObject } from '../../../lib/json.ts'
import type { RequestBound } from '../../formats/format.ts'

const readCount = ({ n }: JsonObject) => Math.min(10, Math.max(1, Math.ceil(Number(formatScalar(n))) || 1))

/** Returns the maximum output tokens for an image of this size and its partial images: four times the tokens of `high` at 1.5 megapixels. */
function boundOutputTokens(body: JsonObject): number {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(formatScalar(body.size ?? '')) ?? []
  const [tier] = /[24]k/i.exec(JSON.stringify([body.size, body.resolution, body.providerOptions])) ?? []
  const tierMegapixels = tier === undefined ? 1.6 : tier.startsWith('4') ? 16 : 4.2
  const megapixels = Math.max(tierMegapixels, width === undefined ? 0 : (Number(width) * Number(height)) / 1_000_000)
  const partialImageCount = Math.min(3, Math.max(0, Number(formatScalar(body.partial_images)) || 0))
  return Math.ceil(megapixels * TOKENS_PER_MEGAPIXEL) + partialImageCount * 100
}

/** `high` takes 6,240 tokens at 1536x1024, and thinking may double that. */
const TOKENS_PER_MEGAPIXEL = 8_000

/** Maximum tokens of an input image, at high fidelity. */
const TOKENS_PER_INPUT_IMAGE = 7_000

/** Bounds a request by its output images (at most ten) and its input images. */
export const imageBound: RequestBound = {
  isBilledOnce: true,
  countResponses: readCount,
  inputTokens: ({ prompt, image, images, input_references: references, files: aiSdkFiles }, _, files = []) => {
    const bodyImageCount = [image, images, references, aiSdkFiles]
      .flat()
      .filter((item) => (item ?? null) !== null).length
    const imageCount = Math.max(files.length, bodyImageCount)
    return (typeof prompt === 'string' ? prompt.length : 0) + 100 + imageCount * TOKENS_PER_INPUT_IMAGE
  },
  outputTokens: boundOutputTokens,
  units: (body) => ({ image: readCount(body) }),
}
