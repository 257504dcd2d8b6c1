import { gatewayError, isGatewayError } from '../../errors.ts'
import { redactCredentialShapes } from '../../lib/credential-shapes.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { UpstreamFetch } from '../../lib/exchange.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import type { Clock } from '../../types.ts'
import type { CatalogOptions, FetchCatalog, FetchedCatalog } from './live-types.ts'

/** Timeout for a source, in ms. */
const TIMEOUT_MS = 60_000
const DAY_MS = 24 * 60 * 60_000
/** Maximum size of a source, in bytes. models.dev is about 3 MB. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_REASON_LENGTH = 200
const MODELS_DEV_URL = 'https://models.dev/api.json'

/** Fetches the source. Rejects with `UPSTREAM_FAILED` if it fails, takes too long, or doesn't return an object of providers. */
export async function fetchCatalog(
  refresh: CatalogOptions['refresh'],
  { fetch, clock, etag }: { fetch: UpstreamFetch; clock: Clock; etag: string | undefined },
): Promise<(FetchedCatalog & { json: string }) | 'unchanged'> {
  const controller = new AbortController()
  const timeoutPromise = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(createSourceError('did not respond within a minute')))
  })
  const cancelTimeout = startDeadline(clock, TIMEOUT_MS, () => controller.abort())
  const fetchSource = refresh === 'models.dev' ? fetchModelsDev : refresh
  try {
    const { signal } = controller
    const fetchedCatalog: unknown = await Promise.race([
      fetchSource({ fetch, signal, ...(etag !== undefined && { etag }) }),
      timeoutPromise,
    ])
    if (fetchedCatalog === 'unchanged') return 'unchanged'
    if (!isObject(fetchedCatalog) || !isObject(fetchedCatalog.providers))
      throw createSourceError('did not return an object of providers')
    const { asOf, source = '', etag: newEtag = '' } = fetchedCatalog
    if (asOf !== undefined && !(typeof asOf === 'string' && DATE_PATTERN.test(asOf) && !Number.isNaN(Date.parse(asOf))))
      throw createSourceError('did not return a date like 2026-11-30 in "asOf"')
    if (asOf !== undefined && Date.parse(asOf) > clock.now() + DAY_MS)
      throw createSourceError('returned a date in the future in "asOf"') // tolerates time zones
    if (typeof source !== 'string' || typeof newEtag !== 'string')
      throw createSourceError('did not return a string in "source" or "etag"')
    const json = JSON.stringify(fetchedCatalog.providers)
    return { ...(fetchedCatalog as unknown as FetchedCatalog), json } // the other fields were checked above; the models are checked later
  } catch (error) {
    throw isGatewayError(error)
      ? error
      : gatewayError('UPSTREAM_FAILED', { message: describeFailure(error), cause: error })
  } finally {
    cancelTimeout()
  }
}

const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/

const createSourceError = (problem: string) =>
  gatewayError('UPSTREAM_FAILED', { message: `The catalog source ${problem}.` })

/** Explains why a source failed. Doesn't include the original message, which may quote a URL with a key or an entire page. */
function describeFailure(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : {}
  const reasons = [message, cause instanceof Error ? cause.message : undefined].filter(Boolean).join(': ')
  const reason = redactCredentialShapes(reasons.slice(0, 1_000))
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON_LENGTH)
  return reason === '' ? 'The catalog source failed.' : `The catalog source failed: ${reason}`
}

const fetchModelsDev: FetchCatalog = async ({ fetch, signal, etag }) => {
  const response = await fetch(MODELS_DEV_URL, { signal, headers: etag === undefined ? {} : { 'if-none-match': etag } })
  if (response.status === 304) return 'unchanged'
  if (response.status !== 200) throw createSourceError(`returned status ${response.status}`)
  const providers = tryParseJson(await readText(response))
  if (!isObject(providers)) throw createSourceError('did not return a JSON object')
  const newEtag = response.headers.get('etag')
  return { providers, source: MODELS_DEV_URL, ...(newEtag !== null && { etag: newEtag }) }
}

async function readText({ body }: Response): Promise<string> {
  const parts: string[] = []
  const decoder = new TextDecoder()
  let totalBytes = 0
  const reader = body?.getReader()
  for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
    totalBytes += chunk.value.length
    if (totalBytes > MAX_BYTES) {
      await reader?.cancel()
      throw createSourceError('is too large')
    }
    parts.push(decoder.decode(chunk.value, { stream: true }))
  }
  return parts.join('') + decoder.decode()
}
