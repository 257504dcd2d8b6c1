import type { Exchange } from '../../lib/exchange.ts'

/**
 * Returns whether the request comes from a page on another origin. Trusts `Sec-Fetch-Site`, which only browsers set. Without it, compares `Origin`
 * with `publicOrigin` or, if that isn't set, with `Host`, which a proxy may have rewritten.
 */
export function isCrossOrigin(exchange: Exchange, publicOrigin?: string): boolean {
  const site = exchange.header('sec-fetch-site')
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const origin = exchange.header('origin')
  if (origin === undefined) return false
  if (publicOrigin !== undefined) return origin !== publicOrigin
  return getUrlHost(origin) !== getUrlHost(`${origin.startsWith('https:') ? 'https' : 'http'}://${getHost(exchange)}`)
}

/** Returns the host and port in `Host`; in process, where that header is missing, uses the URL. */
export const getHost = (exchange: Exchange): string =>
  (exchange.header('host') ?? new URL(exchange.toRequest().url).host).toLowerCase()

/**
 * Returns the host and port, without the default port. For a string that isn't a URL, such as the origin `null`, returns a new symbol, which equals
 * nothing else.
 */
function getUrlHost(url: string): string | symbol {
  try {
    return new URL(url).host
  } catch {
    return Symbol(url)
  }
}
