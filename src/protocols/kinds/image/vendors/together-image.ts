import { type ImageVendor, pickOptions, rejectMask, toImageUrl } from '../image.ts'
import { choosePixels } from '../image-sizes.ts'
import { readOpenaiResponse } from './openai-image.ts'

/** https://docs.together.ai/reference/post-images-generations */
export const together: ImageVendor = {
  name: 'together',
  providers: ['together'],
  writeRequest(request, context) {
    const { prompt, count, inputImages, shouldReturnUrl } = request
    rejectMask(request, context)
    const { moderation, ...options } = pickOptions(request, IMAGE_OPTIONS, context)
    const [image, ...others] = inputImages.map(toImageUrl)
    return {
      path: '/images/generations',
      body: {
        model: context.target.model,
        prompt,
        n: count,
        response_format: shouldReturnUrl ? 'url' : 'base64',
        ...choosePixels(request, context, { max: 2_048 }),
        ...options,
        ...(moderation === 'low' && { disable_safety_checker: true }),
        ...(image !== undefined && others.length === 0 && { image_url: image }),
        ...(image !== undefined && others.length > 0 && { reference_images: [image, ...others] }),
      },
    }
  },
  readResponse: (json) => readOpenaiResponse(json),
}

const IMAGE_OPTIONS = ['seed', 'negative_prompt', 'steps', 'guidance_scale', 'output_format', 'moderation']
