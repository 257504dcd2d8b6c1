import type { VendorAdapter } from '../../kind-adapters.ts'
import { type ImageRequest, type ImageResponse, pickOptions, rejectMask, toImageUrl } from '../image.ts'
import { createImageStream, type ImageChunk } from '../image-pieces.ts'
import { recordRatioConflict } from '../image-sizes.ts'
import { readOpenaiResponse } from './openai-image.ts'

/** https://openrouter.ai/docs/guides/overview/multimodal/image-generation. Edits use the same endpoint, with references. */
export const openrouter: VendorAdapter<ImageRequest, ImageResponse, ImageChunk> = {
  name: 'openrouter',
  providers: ['openrouter'],
  createStream: ({ options, count }) => (options.stream === true ? createImageStream(count) : undefined),
  writeRequest(request, context) {
    const { prompt, count, size, tier, aspectRatio, inputImages, shouldReturnUrl } = request
    rejectMask(request, context)
    recordRatioConflict(request, context)
    if (shouldReturnUrl) context.warnings.recordDrop('response_format')
    return {
      path: '/images',
      body: {
        model: context.target.model,
        prompt,
        ...(count > 1 && { n: count }),
        ...(size && { size: `${size.width}x${size.height}` }),
        ...(!size && tier && { resolution: tier }),
        ...(!size && aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
        ...pickOptions(request, IMAGE_OPTIONS, context),
        ...(inputImages.length > 0 && {
          input_references: inputImages.map((image) => ({
            type: 'image_url',
            image_url: { url: toImageUrl(image) },
          })),
        }),
      },
    }
  },
  readResponse: (json) => readOpenaiResponse(json),
}

const IMAGE_OPTIONS = ['quality', 'background', 'output_format', 'output_compression', 'seed', 'stream', 'user']
