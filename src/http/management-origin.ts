import { gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { requireJson } from '../lib/media-type.ts'

const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Refuses changes that pages of other sites make with their visitor's browser (CSRF). Throws `FORBIDDEN` for a foreign origin, and
 * `UNSUPPORTED_MEDIA_TYPE` for a body that a plain HTML form could send.
 */
export function refuseForeignChange(exchange: Exchange): void {
  if (!CHANGES.has(exchange.method)) return
  if (isForeign(exchange)) {
    throw gatewayError('FORBIDDEN', {
      message: 'Changes are accepted from the same origin only; this request comes from another site.',
    })
  }
  if (exchange.method !== 'DELETE') requireJson(exchange)
}

/**
 * Keeps a page whose host name was pointed at this machine (DNS rebinding) from passing for a local one: a browser must name the host as
 * localhost, by its IP address, or as one of `allowedHosts`. Throws `FORBIDDEN`.
 */
export function refuseUnknownHost(exchange: Exchange, allowedHosts: readonly string[]): void {
  if (!isBrowser(exchange)) return
  const host = hostOf(exchange)
  const name = hostName(host)
  const isOurs =
    name !== undefined &&
    (isLocalName(name) || isIpAddress(name) || allowedHosts.some((allowed) => hostName(allowed) === name))
  if (isOurs) return
  throw gatewayError('FORBIDDEN', {
    message: `The management API is open to browsers on this machine only, not as "${host.slice(0, 100)}". Add the host to management.allowedHosts if it is yours.`,
  })
}

/** By `Sec-Fetch-Site`, which a browser sets itself; otherwise by `Origin`, compared with `Host`, which a proxy may rewrite. */
function isForeign(exchange: Exchange): boolean {
  const site = exchange.header('sec-fetch-site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = exchange.header('origin')
  if (origin === undefined) return false
  return hostOfUrl(origin) !== hostOfUrl(`${origin.startsWith('https:') ? 'https' : 'http'}://${hostOf(exchange)}`)
}

function isBrowser(exchange: Exchange): boolean {
  const marks = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest']
  return (
    marks.some((name) => exchange.header(name) !== undefined) || /^Mozilla\//.test(exchange.header('user-agent') ?? '')
  )
}

/** The host and port that the client names; in process, where there is no `Host`, those of the URL. */
const hostOf = (exchange: Exchange) => (exchange.header('host') ?? new URL(exchange.toRequest().url).host).toLowerCase()

/** The host without its port, normalised; `undefined` when it is malformed. */
function hostName(host: string): string | undefined {
  if (/[^\w.:[\]-]/.test(host)) return undefined
  try {
    return new URL(`http://${host}`).hostname.replace(/\.$/, '')
  } catch {
    return undefined
  }
}

/** Host and port, without the default port. For what is no URL, such as the origin `null`, a symbol, which equals nothing. */
function hostOfUrl(url: string): string | symbol {
  try {
    return new URL(url).host
  } catch {
    return Symbol(url)
  }
}

const isLocalName = (name: string) => name === 'localhost' || name.endsWith('.localhost')

const isIpAddress = (name: string) => name.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(name)
