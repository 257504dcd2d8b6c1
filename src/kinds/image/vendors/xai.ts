import { embeddedError } from '../../../formats/errors/embedded.ts'
import { isObject } from '../../../lib/json.ts'
import { addressOf, FILTERED, type ImageVendor, optionsFor, refuseMask, refusePictures } from '../image.ts'
import { shapeOf } from '../sizes.ts'
import { openaiImages } from './openai.ts'

/** https://docs.x.ai/docs/guides/image-generations. It takes JSON for edits, too. */
export const xai: ImageVendor = {
  name: 'xai',
  providers: ['xai'],
  most: () => 10,
  request(asked, context) {
    const { prompt, count, pictures, wantsUrl } = asked
    refuseMask(asked, context)
    refusePictures(asked, 3, context)
    const options = optionsFor(asked, ['quality', 'output_format', 'user'], context)
    const { ratio, tier } = shapeOf(asked, context, { tiers: ['1K', '2K'] })
    const images = pictures.map((picture) => ({ url: addressOf(picture), type: 'image_url' }))
    return {
      path: images.length > 0 ? '/images/edits' : '/images/generations',
      body: {
        model: context.target.model,
        prompt,
        n: count,
        response_format: wantsUrl ? 'url' : 'b64_json',
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...(tier && { resolution: tier.toLowerCase() }),
        ...options,
        ...(images.length === 1 && { image: images[0] }),
        ...(images.length > 1 && { images }),
      },
    }
  },
  answer(json) {
    const { data } = json
    return openaiImages({ ...json, data: Array.isArray(data) ? data.filter((one) => !isRefused(one)) : data })
  },
  errorIn({ error, data }) {
    if (error) return embeddedError(error)
    return Array.isArray(data) && data.length > 0 && data.every(isRefused) ? FILTERED : undefined
  },
}

const isRefused = (one: unknown) => isObject(one) && one.respect_moderation === false
