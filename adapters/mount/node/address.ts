/** Where a URL leads. */
export interface Address {
  origin: string
  /** With its query. */
  path: string
}

const CACHED = 256
const cache = new Map<string, Address>()

/** Splits a URL into what a connection and a request line need; an error when it is not one of http or https. */
export function addressOf(url: string): Address | Error {
  const known = cache.get(url)
  if (known) return known
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    return new TypeError('The address of the upstream is not an http or https URL.')
  const { origin, pathname, search } = new URL(url)
  const address = { origin, path: pathname + search }
  if (cache.size >= CACHED) cache.clear()
  cache.set(url, address)
  return address
}
