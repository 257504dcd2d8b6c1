import { toBase64 } from '../../../lib/bytes.ts'
import type { CompletionTools } from '../kind-adapters.ts'
import type { ImageRequest, ImageResponse } from './image.ts'

/**
 * Downloads images if the client wants base64 but the vendor returned URLs. If a download fails, the client gets the URL, because the image has
 * already been paid for.
 */
export async function downloadImages(
  response: ImageResponse,
  { shouldReturnUrl }: ImageRequest,
  { download }: CompletionTools,
): Promise<ImageResponse> {
  if (shouldReturnUrl || response.images.every(({ base64 }) => base64 !== undefined)) return response
  const images = await Promise.all(
    response.images.map(async (image) => {
      if (image.base64 !== undefined || image.url === undefined) return image
      const downloaded = await download(image.url)
      if (!downloaded) return image
      const { url: _, ...imageFields } = image
      return { ...imageFields, base64: toBase64(downloaded.bytes), type: downloaded.mediaType || image.type }
    }),
  )
  return { ...response, images }
}
