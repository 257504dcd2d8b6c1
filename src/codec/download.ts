import { concatBytes } from '../lib/bytes.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { UpstreamAnswer, UpstreamFetch } from '../lib/exchange.ts'
import { isPublicName } from '../lib/public-names.ts'
import type { Scope } from '../lib/scope.ts'
import type { Clock } from '../types.ts'
import { ProviderCall } from '../upstream/provider-call.ts'

/** What a download depends on. */
export interface DownloadTerms {
  fetch: UpstreamFetch
  clock: Clock
  /** For how long the client waits. */
  scope: Scope
  /** In bytes, of all downloads of a request together; each takes its own from it. */
  allowance: { left: number }
  /** In bytes, of one; default 20 MiB. */
  maxBytes?: number
}

/** Either the bytes, with the media type that was declared, in lower case and possibly empty; or why there are none. */
export type Download = { bytes: Uint8Array; mediaType: string; problem?: undefined } | { problem: string }

/**
 * Fetches a medium, without any header of the client. A `problem` says nothing of the answer but its status. Rejects only with the reason
 * why the client no longer waits.
 */
export async function download(
  url: URL,
  { fetch, clock, scope, allowance, maxBytes = MAX_BYTES }: DownloadTerms,
): Promise<Download> {
  let call: ProviderCall | undefined
  let stopped: { reason: unknown } | undefined
  const cancelDeadline = startDeadline(clock, TIMEOUT_MS, () => stop(TOO_SLOW))
  scope.add(stop)

  function stop(reason: unknown) {
    stopped ??= { reason }
    call?.cancel(reason)
  }

  async function follow(): Promise<Download> {
    let at = url
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const problem = addressProblem(at)
      if (problem) return { problem: hops > 0 ? `it redirects, but ${problem}` : problem }
      if (stopped) throw stopped.reason
      call = new ProviderCall({ clock, limits: NO_LIMITS })
      const answer = await call.open({ url: at.href, method: 'GET', headers: HEADERS }, fetch)
      if (!REDIRECTS.has(answer.status)) return read(answer, { allowance, maxBytes })
      call.cancel(DONE)
      const location = answer.header('location')
      if (!location || !URL.canParse(location, at.href)) break
      at = new URL(location, at.href)
      at.hash = ''
    }
    return { problem: `it redirects without end, or more than ${MAX_REDIRECTS} times` }
  }

  try {
    const found = await follow()
    if (found.problem) stop(DONE)
    return found
  } catch {
    if (scope.hasEnded) throw scope.reason
    const isSlow = stopped?.reason === TOO_SLOW
    return { problem: isSlow ? `it took longer than ${TIMEOUT_MS / 1_000} s` : 'it cannot be reached' } // the error may quote the address
  } finally {
    cancelDeadline()
    scope.remove(stop)
  }
}

/** A redirect that the platform hides has the status 0. */
async function read(
  answer: UpstreamAnswer,
  { allowance, maxBytes }: { allowance: { left: number }; maxBytes: number },
): Promise<Download> {
  const { status, body } = answer
  if (status !== 200) return { problem: status === 0 ? 'it redirects' : `the answer has the status ${status}` }
  const [essence = ''] = (answer.header('content-type') ?? '').split(';')
  const mediaType = essence.trim().toLowerCase()
  if (!POSSIBLE.test(mediaType)) return { problem: 'it is of another media type' }
  let problem = excess(Number(answer.header('content-length') ?? 0), allowance.left, maxBytes)
  const parts: Uint8Array[] = []
  let size = 0
  while (!problem) {
    const chunk = await body.next()
    if (!chunk) return { bytes: concatBytes(parts), mediaType }
    parts.push(chunk)
    size += chunk.length
    problem = excess(size, allowance.left + size - chunk.length, maxBytes)
    allowance.left -= chunk.length
  }
  return { problem }
}

function excess(size: number, allowed: number, maxBytes: number): string | undefined {
  if (size > maxBytes) return `it is larger than ${maxBytes / MIB} MiB`
  return size > allowed ? `all together are larger than ${MAX_BYTES_TOGETHER / MIB} MiB` : undefined
}

const MIB = 1024 * 1024
const MAX_BYTES = 20 * MIB
/** For each request. */
export const MAX_BYTES_TOGETHER = 50 * MIB
const TIMEOUT_MS = 10_000
const FOREVER = Number.POSITIVE_INFINITY
/** The time-out above is that of all redirects together. */
const NO_LIMITS = { headersTimeoutMs: FOREVER, silenceTimeoutMs: FOREVER, totalTimeoutMs: FOREVER }
const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What a medium may be declared as; storages often declare nothing but bytes. */
const POSSIBLE =
  /^(?:|(?:image|audio|video)\/.+|text\/(?:plain|markdown|csv)|application\/(?:pdf|rtf|msword|vnd\..+|octet-stream)|binary\/octet-stream)$/
const HEADERS = { accept: 'image/*, audio/*, video/*, application/*, text/plain', 'accept-encoding': 'identity' }

const TOO_SLOW = Symbol('too slow')
const DONE = Symbol('not needed any more')

/**
 * Why the gateway does not fetch from an address that a client gave; `undefined` when it does. Only https at a public DNS name is left.
 * TLS must then prove that name, so that one which points inside reads nothing from a server that has no certificate for it.
 */
export function addressProblem(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'only https is fetched'
  if (url.username !== '' || url.password !== '') return 'addresses with a user or a password are not fetched'
  if (url.port !== '') return 'only the default port is fetched from'
  return isPublicName(url.hostname) ? undefined : 'only public host names are fetched from'
}
