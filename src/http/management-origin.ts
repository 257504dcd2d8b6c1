import { gatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import { requireJson } from '../lib/media-type.ts'

const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * Keeps pages of other sites from making changes with what their visitor's browser sends along. Throws `FORBIDDEN` for a change from
 * elsewhere, and `UNSUPPORTED_MEDIA_TYPE` for one that a plain form could send.
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

/** What the browser itself says of where the request comes from; a proxy may rewrite `Host`, so that `Origin` alone comes second. */
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

/** As the client names it, with its port; in process, where there is no `Host`, that of the URL. */
const hostOf = (exchange: Exchange) => (exchange.header('host') ?? new URL(exchange.toRequest().url).host).toLowerCase()

/** Without the port, as a URL would write it; `undefined` for what is no host. */
function hostName(host: string): string | undefined {
  if (/[^\w.:[\]-]/.test(host)) return undefined
  try {
    return new URL(`http://${host}`).hostname.replace(/\.$/, '')
  } catch {
    return undefined
  }
}

/** Host and port, the scheme's own left out; unlike any other for what is no URL, such as the origin `null`. */
function hostOfUrl(url: string): string | symbol {
  try {
    return new URL(url).host
  } catch {
    return Symbol(url)
  }
}

const isLocalName = (name: string) => name === 'localhost' || name.endsWith('.localhost')

const isIpAddress = (name: string) => name.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(name)
