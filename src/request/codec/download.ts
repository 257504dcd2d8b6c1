import { concatBytes } from '../../lib/bytes.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { UpstreamFetch, UpstreamResponse } from '../../lib/exchange.ts'
import { isPublicName } from '../../lib/public-names.ts'
import type { Scope } from '../../lib/scope.ts'
import type { Clock } from '../../types.ts'
import { ProviderCall } from '../upstream/provider-call.ts'

/** Download options. */
export interface DownloadOptions {
  fetch: UpstreamFetch
  clock: Clock
  /** Ends when the client stops waiting. */
  scope: Scope
  /** The remaining bytes, shared by all downloads of a request; each download reduces them. */
  allowance: { remainingBytes: number }
  /** The size limit of this download in bytes. Default: 20 MiB. */
  maxBytes?: number
}

/** The bytes and their declared media type, in lowercase and possibly empty; or the reason why there are none. */
export type Download = { bytes: Uint8Array; mediaType: string; problem?: undefined } | { problem: string }

/**
 * Downloads a file without sending any of the client's headers. A `problem` reveals only the response's status. Rejects only with the reason why
 * the client stopped waiting.
 */
export async function download(
  url: URL,
  { fetch, clock, scope, allowance, maxBytes = MAX_BYTES }: DownloadOptions,
): Promise<Download> {
  let call: ProviderCall | undefined
  let cancellation: { reason: unknown } | undefined
  const cancelDeadline = startDeadline(clock, TIMEOUT_MS, () => stop(TOO_SLOW_REASON))
  scope.add(stop)

  function stop(reason: unknown) {
    cancellation ??= { reason }
    call?.cancel(reason)
  }

  async function followRedirects(): Promise<Download> {
    let currentUrl = url
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const problem = findUrlProblem(currentUrl)
      if (problem) return { problem: hops > 0 ? `it redirects, but ${problem}` : problem }
      if (cancellation) throw cancellation.reason
      call = new ProviderCall({ clock, limits: NO_TIMEOUTS })
      const response = await call.open({ url: currentUrl.href, method: 'GET', headers: HEADERS }, fetch)
      if (!REDIRECT_STATUSES.has(response.status)) return readDownload(response, { allowance, maxBytes })
      call.cancel(DONE_REASON)
      const location = response.header('location')
      if (!location || !URL.canParse(location, currentUrl.href)) break
      currentUrl = new URL(location, currentUrl.href)
      currentUrl.hash = ''
    }
    return { problem: `it redirects more than ${MAX_REDIRECTS} times` }
  }

  try {
    const result = await followRedirects()
    if (result.problem) stop(DONE_REASON)
    return result
  } catch {
    if (scope.hasEnded) throw scope.reason
    const isSlow = cancellation?.reason === TOO_SLOW_REASON
    return { problem: isSlow ? `it took longer than ${TIMEOUT_MS / 1_000} s` : 'the server could not be reached' } // the platform's error may quote the URL
  } finally {
    cancelDeadline()
    scope.remove(stop)
  }
}

/** Reads a response. A redirect that the platform hides has status 0. */
async function readDownload(
  response: UpstreamResponse,
  { allowance, maxBytes }: { allowance: { remainingBytes: number }; maxBytes: number },
): Promise<Download> {
  const { status, body } = response
  if (status !== 200) return { problem: status === 0 ? 'it redirects' : `the server returned status ${status}` }
  const [essence = ''] = (response.header('content-type') ?? '').split(';')
  const mediaType = essence.trim().toLowerCase()
  if (!MEDIA_TYPES.test(mediaType)) return { problem: 'its media type is not supported' }
  let problem = findSizeProblem(Number(response.header('content-length') ?? 0), allowance.remainingBytes, maxBytes)
  const parts: Uint8Array[] = []
  let totalBytes = 0
  while (!problem) {
    const chunk = await body.next()
    if (!chunk) return { bytes: concatBytes(parts), mediaType }
    parts.push(chunk)
    totalBytes += chunk.length
    problem = findSizeProblem(totalBytes, allowance.remainingBytes + totalBytes - chunk.length, maxBytes)
    allowance.remainingBytes -= chunk.length
  }
  return { problem }
}

function findSizeProblem(size: number, remainingBytes: number, maxBytes: number): string | undefined {
  if (size > maxBytes) return `it is larger than ${maxBytes / MIB} MiB`
  return size > remainingBytes ? `the files together are larger than ${MAX_TOTAL_BYTES / MIB} MiB` : undefined
}

const MIB = 1024 * 1024
const MAX_BYTES = 20 * MIB
/** The total size limit for a request's downloads. */
export const MAX_TOTAL_BYTES = 50 * MIB
const TIMEOUT_MS = 10_000
const NO_TIMEOUT = Number.POSITIVE_INFINITY
/** Individual calls have no timeouts, because `TIMEOUT_MS` covers the entire download, including redirects. */
const NO_TIMEOUTS = { headersTimeoutMs: NO_TIMEOUT, idleTimeoutMs: NO_TIMEOUT, totalTimeoutMs: NO_TIMEOUT }
const MAX_REDIRECTS = 3
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The media types to accept. Storage services often declare only bytes. */
const MEDIA_TYPES =
  /^(?:|(?:image|audio|video)\/.+|text\/(?:plain|markdown|csv)|application\/(?:pdf|rtf|msword|vnd\..+|octet-stream)|binary\/octet-stream)$/
const HEADERS = { accept: 'image/*, audio/*, video/*, application/*, text/plain', 'accept-encoding': 'identity' }

const TOO_SLOW_REASON = Symbol('too slow')
const DONE_REASON = Symbol('not needed any more')

/**
 * Returns the reason not to download from a client's URL, or `undefined` if there is none. Only HTTPS URLs with a public DNS name are allowed. TLS
 * verifies that name, so a name that points to an internal server fails unless the server has a certificate for it.
 */
export function findUrlProblem(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'only https URLs are fetched'
  if (url.username !== '' || url.password !== '') return 'URLs with a username or password are not fetched'
  if (url.port !== '') return 'only URLs with the default port are fetched'
  return isPublicName(url.hostname) ? undefined : 'only URLs with a public host name are fetched'
}
