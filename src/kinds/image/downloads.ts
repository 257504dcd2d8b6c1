import { toBase64 } from '../../lib/bytes.ts'
import type { AfterAnswer } from '../forms.ts'
import type { ImageRequest, Images } from './image.ts'

/**
 * Fetches images that a vendor gives by address for a client that has asked for base64. One that cannot be fetched is left as its address, since
 * it is paid for.
 */
export async function fillIn(given: Images, { wantsUrl }: ImageRequest, { download }: AfterAnswer): Promise<Images> {
  if (wantsUrl || given.images.every(({ base64 }) => base64 !== undefined)) return given
  const images = await Promise.all(
    given.images.map(async (image) => {
      if (image.base64 !== undefined || image.url === undefined) return image
      const found = await download(image.url)
      if (!found) return image
      const { url: _, ...others } = image
      return { ...others, base64: toBase64(found.bytes), type: found.mediaType || image.type }
    }),
  )
  return { ...given, images }
}
