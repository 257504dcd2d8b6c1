import type { VendorForm } from '../../forms.ts'
import { addressOf, type ImageRequest, type Images, optionsFor, refuseMask } from '../image.ts'
import { type ImagePiece, imageEvents } from '../pieces.ts'
import { noteRatio } from '../sizes.ts'
import { openaiImages } from './openai.ts'

/** https://openrouter.ai/docs/guides/overview/multimodal/image-generation: edits go to the same address, as references. */
export const openrouter: VendorForm<ImageRequest, Images, ImagePiece> = {
  name: 'openrouter',
  providers: ['openrouter'],
  stream: ({ options, count }) => (options.stream === true ? imageEvents(count) : undefined),
  request(asked, context) {
    const { prompt, count, size, tier, aspectRatio, pictures, wantsUrl } = asked
    refuseMask(asked, context)
    noteRatio(asked, context)
    if (wantsUrl) context.warnings.noteDropped('response_format')
    return {
      path: '/images',
      body: {
        model: context.target.model,
        prompt,
        ...(count > 1 && { n: count }),
        ...(size && { size: `${size.width}x${size.height}` }),
        ...(!size && tier && { resolution: tier }),
        ...(!size && aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
        ...optionsFor(asked, OPTIONS, context),
        ...(pictures.length > 0 && {
          input_references: pictures.map((picture) => ({ type: 'image_url', image_url: { url: addressOf(picture) } })),
        }),
      },
    }
  },
  answer: (json) => openaiImages(json),
}

const OPTIONS = ['quality', 'background', 'output_format', 'output_compression', 'seed', 'stream', 'user']
