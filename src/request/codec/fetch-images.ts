import { gatewayError } from '../../errors.ts'
import { readImageHeader } from '../../protocols/kinds/image/image-header.ts'
import type { FetchedImages } from '../../protocols/kinds/kind-adapters.ts'
import type { CodecRequest } from './codec.ts'
import { download, findUrlProblem, MAX_BYTES_TOGETHER } from './download.ts'
import type { ModelCall } from './model-call.ts'

type FetchedPicture = { bytes: Uint8Array; type: string; problem?: undefined } | { problem: string }

/** Each request's downloads by URL, kept for its next targets, and the bytes that it may still download. */
const fetched = new WeakMap<ModelCall, { allowance: { left: number }; images: Map<string, Promise<FetchedPicture>> }>()

/**
 * Downloads the images at these URLs, each once per request: only over HTTPS from public host names, without credentials, and at most 50 MiB in total.
 * Rejects with `INVALID_REQUEST` if one can't be downloaded. If a request is only explained, URLs are only checked.
 */
export async function fetchImages(
  urls: readonly string[],
  { scope, call, context }: CodecRequest,
): Promise<FetchedImages> {
  const callImages = fetched.get(call) ?? { allowance: { left: MAX_BYTES_TOGETHER }, images: new Map() }
  fetched.set(call, callImages)
  const { allowance, images } = callImages

  async function load(url: URL): Promise<FetchedPicture> {
    const problem = findUrlProblem(url)
    if (problem) return { problem }
    if (!scope) return { bytes: new Uint8Array(0), type: 'image/png' }
    const found = await download(url, { fetch: context.fetch, clock: context.clock, scope, allowance })
    if (found.problem !== undefined) return found
    const { type } = readImageHeader(found.bytes) ?? {}
    return type === undefined ? { problem: 'it is not a PNG, WebP, or JPEG image' } : { bytes: found.bytes, type }
  }

  const all = urls.map(async (address) => {
    const url = new URL(address)
    const loading = images.get(address) ?? load(url)
    images.set(address, loading)
    const found = await loading
    if (found.problem === undefined) return [address, found] as const
    throw gatewayError('INVALID_REQUEST', {
      message: `"image": the target does not accept URLs, and the gateway cannot fetch this image from "${url.hostname}": ${found.problem}. Send it as a data URL.`,
      data: { param: 'image' },
    })
  })
  return new Map(await Promise.all(all))
}
