import { gatewayError } from '../../errors.ts'
import { readImageHeader } from '../../protocols/kinds/image/image-header.ts'
import type { FetchedImages } from '../../protocols/kinds/kind-adapters.ts'
import type { CodecRequest } from './codec.ts'
import { download, findUrlProblem, MAX_TOTAL_BYTES } from './download.ts'
import type { ModelCall } from './model-call.ts'

type FetchedImage = { bytes: Uint8Array; type: string; problem?: undefined } | { problem: string }

/** Each request's downloads by URL, kept for its next targets, and the bytes that it may still download. */
const imagesByCall = new WeakMap<
  ModelCall,
  { allowance: { remainingBytes: number }; images: Map<string, Promise<FetchedImage>> }
>()

/**
 * Downloads the images at these URLs, each once per request: only over HTTPS from public host names, without credentials, and at most 50 MiB in total.
 * Rejects with `INVALID_REQUEST` if one can't be downloaded. If a request is only explained, URLs are only checked.
 */
export async function fetchImages(
  urls: readonly string[],
  { scope, call, context }: CodecRequest,
): Promise<FetchedImages> {
  const callImages = imagesByCall.get(call) ?? { allowance: { remainingBytes: MAX_TOTAL_BYTES }, images: new Map() }
  imagesByCall.set(call, callImages)
  const { allowance, images } = callImages

  async function fetchImage(url: URL): Promise<FetchedImage> {
    const problem = findUrlProblem(url)
    if (problem) return { problem }
    if (!scope) return { bytes: new Uint8Array(0), type: 'image/png' }
    const downloaded = await download(url, { fetch: context.fetch, clock: context.clock, scope, allowance })
    if (downloaded.problem !== undefined) return downloaded
    const { type } = readImageHeader(downloaded.bytes) ?? {}
    return type === undefined ? { problem: 'it is not a PNG, WebP, or JPEG image' } : { bytes: downloaded.bytes, type }
  }

  const fetchedImages = urls.map(async (address) => {
    const url = new URL(address)
    const imagePromise = images.get(address) ?? fetchImage(url)
    images.set(address, imagePromise)
    const image = await imagePromise
    if (image.problem === undefined) return [address, image] as const
    throw gatewayError('INVALID_REQUEST', {
      message: `"image": the target does not accept URLs, and the gateway cannot fetch this image from "${url.hostname}": ${image.problem}. Send it as a data URL.`,
      data: { param: 'image' },
    })
  })
  return new Map(await Promise.all(fetchedImages))
}
