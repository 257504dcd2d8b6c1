import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { JobState } from '../../forms.ts'
import { addressOf, type ImageVendor, optionsFor, refuseMask, refusePictures } from '../image.ts'
import { pixelsOf, shapeOf } from '../sizes.ts'

/** Black Forest Labs: a job, which is asked for at the address in its answer. https://docs.bfl.ml */
export const bfl: ImageVendor = {
  name: 'bfl',
  providers: ['bfl'],
  baseUrl: 'https://api.bfl.ai/v1',
  keyHeader: 'x-key',
  most: () => 1,
  request(asked, context) {
    const { prompt, pictures, mask, markup } = asked
    const { model } = context.target
    const isFill = model.includes('fill')
    if (!isFill || markup) refuseMask(asked, context)
    refusePictures(asked, EDITING.test(model) ? 8 : 1, context)
    const { moderation, ...options } = optionsFor(asked, OPTIONS, context)
    const [first, ...others] = pictures.map(plain)
    const shape = BY_RATIO.test(model)
      ? { aspect_ratio: shapeOf(asked, context, { tiers: model.includes('ultra') ? ['1K', '2K'] : ['1K'] }).ratio }
      : pixelsOf(asked, context, { step: 16, least: 256, most: 2_048 })
    return {
      path: `/${pathSegment(model)}`,
      body: {
        prompt,
        ...shape,
        ...options,
        ...(moderation === 'low' && { safety_tolerance: 5 }),
        ...(first !== undefined && {
          [isFill ? 'image' : EDITING.test(model) ? 'input_image' : 'image_prompt']: first,
        }),
        ...Object.fromEntries(others.map((address, at) => [`input_image_${at + 2}`, address])),
        ...(mask && { mask: plain(mask) }),
      },
    }
  },
  answer({ polling_url: polling, result, cost }) {
    const { sample } = isObject(result) ? result : {}
    const isDone = typeof sample === 'string'
    if (!isDone && typeof polling !== 'string') return 'the address of its job'
    const costUsd = typeof cost === 'number' && cost >= 0 ? { costUsd: cost / 100 } : {} // a credit is a cent
    const usage = { inputTokens: 0, outputTokens: 0, units: { image: isDone ? 1 : 0 }, ...costUsd }
    return { images: isDone ? [{ url: sample }] : [], usage }
  },
  job: {
    domain: 'bfl.ai',
    at: ({ polling_url: url, result, cost }) =>
      typeof url === 'string' && !isObject(result) ? { url, kept: { cost } } : undefined,
    state: jobState,
  },
}

const OPTIONS = [
  ...['seed', 'prompt_upsampling', 'safety_tolerance', 'raw', 'output_format', 'moderation', 'steps', 'guidance'],
]

/** Models that change pictures, and those that take a ratio in place of pixels. */
const EDITING = /^flux-(?:2|kontext)/
const BY_RATIO = /kontext|ultra/

/** An address, or base64 without the beginning of a data URL. */
const plain = (picture: Parameters<typeof addressOf>[0]): string => addressOf(picture).replace(/^data:[^,]*,/, '')

/** What has become of a job, by the words of Black Forest Labs. Those that are not known mean that it goes on. */
export function jobState({ status }: JsonObject): JobState {
  if (status === 'Ready') return 'done'
  if (status === 'Request Moderated' || status === 'Content Moderated') return 'refused'
  return status === 'Error' || status === 'Failed' || status === 'Task not found' ? 'failed' : 'open'
}
