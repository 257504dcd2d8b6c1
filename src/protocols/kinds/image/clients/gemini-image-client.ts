import { encodeUtf8 } from '../../../../lib/bytes.ts'
import type { JsonObject } from '../../../../lib/json.ts'
import { readGeminiRequest, writeGeminiResponse } from '../../gemini-kinds.ts'
import type { ClientStream, ClientWriteContext } from '../../kind-adapters.ts'
import { type ImageRequest, type ImageResponse, type OutputImage, parseImageUrl } from '../image.ts'
import {
  type ImageClient,
  MAX_IMAGES,
  readBase64Header,
  recordMissingImages,
  rejectTooManyImages,
} from '../image-clients.ts'
import type { ImageChunk } from '../image-pieces.ts'
import { parseRatio, parseTier } from '../image-sizes.ts'

/** Google's `generateContent` with `responseModalities: ['IMAGE']`. If the contents include images, the request edits them. */
export const createGeminiImageClient = (isStream: boolean): ImageClient => ({
  fieldNames: {
    prompt: 'contents',
    image: 'contents',
    n: 'generationConfig.candidateCount',
    aspect_ratio: 'generationConfig.imageConfig.aspectRatio',
    resolution: 'generationConfig.imageConfig.imageSize',
    seed: 'generationConfig.seed',
  },
  read(json, { warnings }) {
    const { config, text, system, media, dropUnread } = readGeminiRequest(json, warnings)
    const prompt = [system, text].filter((part) => part?.trim()).join('\n')
    if (text.trim() === '') return warnings.reject('prompt', 'must contain a text prompt.')
    const count = config.number('candidateCount') ?? 1
    if (!Number.isInteger(count) || count < 1 || count > MAX_IMAGES)
      warnings.reject('n', `must be a whole number from 1 to ${MAX_IMAGES}.`)
    const image = config.fields('imageConfig')
    const aspectRatio = image?.string('aspectRatio')
    if (aspectRatio !== undefined && parseRatio(aspectRatio) === undefined)
      warnings.reject('aspect_ratio', 'must be two numbers, such as "16:9".')
    const inputImages = media.map(
      (url) => parseImageUrl(url) ?? warnings.reject('image', 'must contain only images in base64 or at https URLs.'),
    )
    rejectTooManyImages(inputImages, warnings)
    const seed = config.number('seed')
    const request: ImageRequest = {
      prompt,
      count,
      aspectRatio,
      tier: parseTier(image?.string('imageSize')),
      inputImages,
      isForm: false,
      shouldReturnUrl: false,
      options: seed === undefined ? {} : { seed },
    }
    dropUnread(image)
    return request
  },
  write: writeResponse,
  createStream: (_, context) => (isStream ? createEventStream(context) : undefined),
})

function writeResponse(response: ImageResponse, context: ClientWriteContext<ImageRequest>): JsonObject {
  recordMissingImages(response, context)
  const { model, newId } = context
  return writeGeminiResponse(response.images.flatMap(writeInlineData), {
    model,
    id: newId(),
    usage: response.usage,
    isLast: true,
  })
}

/** Sends the complete response as one event, because this API has no partial images. */
function createEventStream(context: ClientWriteContext<ImageRequest>): ClientStream<ImageResponse, ImageChunk> {
  const images: OutputImage[] = []
  return {
    writesEvents: true,
    getContentType: () => 'text/event-stream',
    writeChunk({ image, partialIndex }) {
      if (partialIndex === undefined) images.push(image)
      return undefined
    },
    writeEnd: (usage) => encodeUtf8(`data: ${JSON.stringify(writeResponse({ images, usage }, context))}\n\n`),
    splitResponse: (response) => response.images.map((image) => ({ image })),
  }
}

function writeInlineData({ base64, type }: OutputImage): Array<{ mimeType: string; data: string }> {
  if (base64 === undefined) return []
  return [{ mimeType: readBase64Header(base64)?.type ?? type ?? 'image/png', data: base64 }]
}
