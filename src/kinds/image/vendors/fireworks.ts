import { embeddedError } from '../../../formats/errors/embedded.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import {
  addressOf,
  FILTERED,
  type ImageVendor,
  type MadeImage,
  optionsFor,
  refuseMask,
  refusePictures,
} from '../image.ts'
import { shapeOf } from '../sizes.ts'
import { jobState } from './bfl.ts'

/**
 * https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt. Models of the Kontext family answer with a job, which is
 * asked for below the same address.
 */
export const fireworks: ImageVendor = {
  name: 'fireworks',
  providers: ['fireworks'],
  most: () => 1,
  bytesAs: 'base64',
  request(asked, context) {
    refuseMask(asked, context)
    const { model } = context.target
    const isKontext = KONTEXT.test(model)
    refusePictures(asked, isKontext ? 1 : 0, context)
    const options = optionsFor(asked, isKontext ? [...OPTIONS, ...OF_KONTEXT] : OPTIONS, context)
    const { ratio } = shapeOf(asked, context, { tiers: ['1K'] })
    const [picture] = asked.pictures
    return {
      path: `/workflows/${model.split('/').map(pathSegment).join('/')}${isKontext ? '' : '/text_to_image'}`,
      headers: { accept: 'application/json' },
      body: {
        prompt: asked.prompt,
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...options,
        ...(picture && { input_image: addressOf(picture) }),
      },
    }
  },
  answer(json) {
    const images = imagesIn(json)
    if (images.length === 0 && typeof json.request_id !== 'string') return 'an image'
    return { images, usage: { inputTokens: 0, outputTokens: 0, units: { image: images.length } } }
  },
  errorIn: ({ error, finishReason }) =>
    error ? embeddedError(error) : finishReason === 'CONTENT_FILTERED' ? FILTERED : undefined,
  job: {
    at: ({ request_id: id }, submitted) =>
      typeof id === 'string' ? { url: `${submitted}/get_result`, body: { id } } : undefined,
    state: jobState,
  },
}

const KONTEXT = /kontext/
const OPTIONS = ['seed', 'guidance_scale', 'num_inference_steps']
const OF_KONTEXT = ['output_format', 'prompt_upsampling', 'safety_tolerance']

/** In `base64`, as data URLs or without their beginning, or at the address of a finished job. */
function imagesIn({ base64, type, result }: JsonObject): MadeImage[] {
  const { sample } = isObject(result) ? result : {}
  if (typeof sample === 'string' && sample.startsWith('https:')) return [{ url: sample }]
  return [base64, sample].flat().flatMap((one) => {
    if (typeof one !== 'string' || one === '') return []
    const [, own = type, data = one] = /^data:([\w/.+-]+);base64,(.+)$/s.exec(one) ?? []
    return [{ base64: data, ...(typeof own === 'string' && { type: own }) }]
  })
}
