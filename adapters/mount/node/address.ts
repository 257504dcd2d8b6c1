/** The parts of a URL that a call needs. */
export interface Address {
  origin: string
  /** With its query. */
  path: string
}

const CACHED = 256
const cache = new Map<string, Address>()

/** Splits a URL into what a connection and a request line need; an Error when it is not http or https. */
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
