import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import {
  CONTENT_FILTER_ERROR,
  type ImageVendor,
  limitInputImages,
  type OutputImage,
  pickOptions,
  rejectMask,
  toImageUrl,
} from '../image.ts'
import { chooseRatioAndTier } from '../image-sizes.ts'
import { readJobState } from './bfl-image.ts'

/**
 * https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt. Models in the Kontext family respond with a job, which is polled
 * at the same URL.
 */
export const fireworks: ImageVendor = {
  name: 'fireworks',
  providers: ['fireworks'],
  getMaxEntries: () => 1,
  bytesField: 'base64',
  writeRequest(request, context) {
    rejectMask(request, context)
    const { model } = context.target
    const isKontextModel = KONTEXT_PATTERN.test(model)
    limitInputImages(request, isKontextModel ? 1 : 0, context)
    const options = pickOptions(
      request,
      isKontextModel ? [...IMAGE_OPTIONS, ...KONTEXT_OPTIONS] : IMAGE_OPTIONS,
      context,
    )
    const { ratio } = chooseRatioAndTier(request, context, { tiers: ['1K'] })
    const [inputImage] = request.inputImages
    return {
      path: `/workflows/${model.split('/').map(encodePathSegment).join('/')}${isKontextModel ? '' : '/text_to_image'}`,
      headers: { accept: 'application/json' },
      body: {
        prompt: request.prompt,
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...options,
        ...(inputImage && { input_image: toImageUrl(inputImage) }),
      },
    }
  },
  readResponse(json) {
    const images = readImages(json)
    if (images.length === 0 && typeof json.request_id !== 'string') return 'an image'
    return { images, usage: { inputTokens: 0, outputTokens: 0, units: { image: images.length } } }
  },
  findError: ({ error, finishReason }) =>
    error ? readEmbeddedError(error) : finishReason === 'CONTENT_FILTERED' ? CONTENT_FILTER_ERROR : undefined,
  job: {
    findJob: ({ request_id: id }, submitted) =>
      typeof id === 'string' ? { url: `${submitted}/get_result`, body: { id } } : undefined,
    readState: readJobState,
  },
}

const KONTEXT_PATTERN = /kontext/
const IMAGE_OPTIONS = ['seed', 'guidance_scale', 'num_inference_steps']
const KONTEXT_OPTIONS = ['output_format', 'prompt_upsampling', 'safety_tolerance']

/** Reads `base64`, with or without a data URL prefix, or the URL of a finished job. */
function readImages({ base64, type, result }: JsonObject): OutputImage[] {
  const { sample } = isObject(result) ? result : {}
  if (typeof sample === 'string' && sample.startsWith('https:')) return [{ url: sample }]
  return [base64, sample].flat().flatMap((image) => {
    if (typeof image !== 'string' || image === '') return []
    const [, mediaType = type, data = image] = /^data:([\w/.+-]+);base64,(.+)$/s.exec(image) ?? []
    return [{ base64: data, ...(typeof mediaType === 'string' && { type: mediaType }) }]
  })
}
