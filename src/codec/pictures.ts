import { gatewayError } from '../errors.ts'
import type { FetchedPictures } from '../kinds/forms.ts'
import { pictureIn } from '../kinds/image/header.ts'
import type { AskedRequest } from './codec.ts'
import { addressProblem, download, MAX_BYTES_TOGETHER } from './download.ts'
import type { ModelCall } from './model-call.ts'

type FetchedPicture = { bytes: Uint8Array; type: string; problem?: undefined } | { problem: string }

/** What each request has fetched, by address, for its next targets; and how many bytes it may still fetch. */
const fetched = new WeakMap<
  ModelCall,
  { allowance: { left: number }; pictures: Map<string, Promise<FetchedPicture>> }
>()

/**
 * Fetches the pictures at these addresses, each once a request: by https alone, from public names, without any credential, 50 MiB together. Rejects
 * with `INVALID_REQUEST` when one cannot be had. For a request that is only explained, addresses are only checked.
 */
export async function fetchPictures(
  addresses: readonly string[],
  { scope, call, context }: AskedRequest,
): Promise<FetchedPictures> {
  const known = fetched.get(call) ?? { allowance: { left: MAX_BYTES_TOGETHER }, pictures: new Map() }
  fetched.set(call, known)
  const { allowance, pictures } = known

  async function load(url: URL): Promise<FetchedPicture> {
    const problem = addressProblem(url)
    if (problem) return { problem }
    if (!scope) return { bytes: new Uint8Array(0), type: 'image/png' }
    const found = await download(url, { fetch: context.fetch, clock: context.clock, scope, allowance })
    if (found.problem !== undefined) return found
    const { type } = pictureIn(found.bytes) ?? {}
    return type === undefined ? { problem: 'it is no PNG, WebP or JPEG' } : { bytes: found.bytes, type }
  }

  const all = addresses.map(async (address) => {
    const url = new URL(address)
    const loading = pictures.get(address) ?? load(url)
    pictures.set(address, loading)
    const found = await loading
    if (found.problem === undefined) return [address, found] as const
    throw gatewayError('INVALID_REQUEST', {
      message: `"image": the target takes no addresses, and the gateway cannot fetch this picture from "${url.hostname}": ${found.problem}. Send it as a data URL.`,
      data: { param: 'image' },
    })
  })
  return new Map(await Promise.all(all))
}
