import { isObject } from '../../../../lib/json.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import {
  CONTENT_FILTER_ERROR,
  type ImageVendor,
  limitInputImages,
  pickOptions,
  rejectMask,
  toImageUrl,
} from '../image.ts'
import { chooseRatioAndTier } from '../image-sizes.ts'
import { readOpenaiResponse } from './openai-image.ts'

/** https://docs.x.ai/docs/guides/image-generations. Edits are also sent as JSON. */
export const xai: ImageVendor = {
  name: 'xai',
  providers: ['xai'],
  getMaxEntries: () => 10,
  writeRequest(request, context) {
    const { prompt, count, inputImages, shouldReturnUrl } = request
    rejectMask(request, context)
    limitInputImages(request, 3, context)
    const options = pickOptions(request, ['quality', 'output_format', 'user'], context)
    const { ratio, tier } = chooseRatioAndTier(request, context, { tiers: ['1K', '2K'] })
    const images = inputImages.map((image) => ({ url: toImageUrl(image), type: 'image_url' }))
    return {
      path: images.length > 0 ? '/images/edits' : '/images/generations',
      body: {
        model: context.target.model,
        prompt,
        n: count,
        response_format: shouldReturnUrl ? 'url' : 'b64_json',
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...(tier && { resolution: tier.toLowerCase() }),
        ...options,
        ...(images.length === 1 && { image: images[0] }),
        ...(images.length > 1 && { images }),
      },
    }
  },
  readResponse(json) {
    const { data } = json
    return readOpenaiResponse({ ...json, data: Array.isArray(data) ? data.filter((item) => !isRejected(item)) : data })
  },
  findError({ error, data }) {
    if (error) return readEmbeddedError(error)
    return Array.isArray(data) && data.length > 0 && data.every(isRejected) ? CONTENT_FILTER_ERROR : undefined
  },
}

const isRejected = (item: unknown) => isObject(item) && item.respect_moderation === false
