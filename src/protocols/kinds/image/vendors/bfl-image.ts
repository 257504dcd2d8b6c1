import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import type { JobState } from '../../kind-adapters.ts'
import { type ImageVendor, limitInputImages, pickOptions, rejectMask, toImageUrl } from '../image.ts'
import { choosePixels, chooseRatioAndTier } from '../image-sizes.ts'

/** Black Forest Labs responds with a job and its polling URL. https://docs.bfl.ml */
export const bfl: ImageVendor = {
  name: 'bfl',
  providers: ['bfl'],
  baseUrl: 'https://api.bfl.ai/v1',
  keyHeader: 'x-key',
  getMaxEntries: () => 1,
  writeRequest(request, context) {
    const { prompt, inputImages, mask, markup } = request
    const { model } = context.target
    const isFillModel = model.includes('fill')
    if (!isFillModel || markup) rejectMask(request, context)
    limitInputImages(request, EDIT_MODELS.test(model) ? 8 : 1, context)
    const { moderation, ...options } = pickOptions(request, IMAGE_OPTIONS, context)
    const [first, ...others] = inputImages.map(toPlainUrl)
    const shapeFields = RATIO_MODELS.test(model)
      ? {
          aspect_ratio: chooseRatioAndTier(request, context, { tiers: model.includes('ultra') ? ['1K', '2K'] : ['1K'] })
            .ratio,
        }
      : choosePixels(request, context, { min: 256, max: 2_048 })
    return {
      path: `/${encodePathSegment(model)}`,
      body: {
        prompt,
        ...shapeFields,
        ...options,
        ...(moderation === 'low' && { safety_tolerance: 5 }),
        ...(first !== undefined && {
          [isFillModel ? 'image' : EDIT_MODELS.test(model) ? 'input_image' : 'image_prompt']: first,
        }),
        ...Object.fromEntries(others.map((url, index) => [`input_image_${index + 2}`, url])),
        ...(mask && { mask: toPlainUrl(mask) }),
      },
    }
  },
  readResponse({ polling_url: pollingUrl, result, cost }) {
    const { sample } = isObject(result) ? result : {}
    const isJobDone = typeof sample === 'string'
    if (!isJobDone && typeof pollingUrl !== 'string') return 'its job URL'
    const costUsd = typeof cost === 'number' && cost >= 0 ? { costUsd: cost / 100 } : {} // one credit costs one cent
    const usage = { inputTokens: 0, outputTokens: 0, units: { image: isJobDone ? 1 : 0 }, ...costUsd }
    return { images: isJobDone ? [{ url: sample }] : [], usage }
  },
  job: {
    domain: 'bfl.ai',
    findJob: ({ polling_url: url, result, cost }) =>
      typeof url === 'string' && !isObject(result) ? { url, extraFields: { cost } } : undefined,
    readState: readJobState,
  },
}

const IMAGE_OPTIONS = [
  ...['seed', 'prompt_upsampling', 'safety_tolerance', 'raw', 'output_format', 'moderation', 'steps', 'guidance'],
]

/** Models that edit images, and models that expect a ratio instead of pixels. */
const EDIT_MODELS = /^flux-(?:2|kontext)/
const RATIO_MODELS = /kontext|ultra/

/** Returns a URL, or base64 without the data URL prefix. */
const toPlainUrl = (image: Parameters<typeof toImageUrl>[0]): string => toImageUrl(image).replace(/^data:[^,]*,/, '')

/** Reads a job's state. Treats an unknown state as open. */
export function readJobState({ status }: JsonObject): JobState {
  if (status === 'Ready') return 'done'
  if (status === 'Request Moderated' || status === 'Content Moderated') return 'refused'
  return status === 'Error' || status === 'Failed' || status === 'Task not found' ? 'failed' : 'open'
}
