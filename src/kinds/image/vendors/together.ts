import { addressOf, type ImageVendor, optionsFor, refuseMask } from '../image.ts'
import { pixelsOf } from '../sizes.ts'
import { openaiImages } from './openai.ts'

/** https://docs.together.ai/reference/post-images-generations */
export const together: ImageVendor = {
  name: 'together',
  providers: ['together'],
  request(asked, context) {
    const { prompt, count, pictures, wantsUrl } = asked
    refuseMask(asked, context)
    const { moderation, ...options } = optionsFor(asked, OPTIONS, context)
    const [image, ...others] = pictures.map(addressOf)
    return {
      path: '/images/generations',
      body: {
        model: context.target.model,
        prompt,
        n: count,
        response_format: wantsUrl ? 'url' : 'base64',
        ...pixelsOf(asked, context, { step: 16, most: 2_048 }),
        ...options,
        ...(moderation === 'low' && { disable_safety_checker: true }),
        ...(image !== undefined && others.length === 0 && { image_url: image }),
        ...(image !== undefined && others.length > 0 && { reference_images: [image, ...others] }),
      },
    }
  },
  answer: (json) => openaiImages(json),
}

const OPTIONS = ['seed', 'negative_prompt', 'steps', 'guidance_scale', 'output_format', 'moderation']
