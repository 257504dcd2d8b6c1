import { isPublicName } from '../../../lib/public-names.ts'

const MAX_LENGTH = 2_048

/**
 * Normalizes a page URL, so that a vendor's server parses the same host from it. If the page can't be fetched, returns the reason. A vendor's server
 * may run in a private network, where a URL could reach internal servers.
 */
export function parsePageUrl(text: string): { href: string; problem?: undefined } | { problem: string } {
  if (text.length > MAX_LENGTH) return { problem: `must be at most ${MAX_LENGTH} characters.` }
  if (!URL.canParse(text)) return { problem: 'must be a complete page URL, such as "https://example.com/".' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'must start with https:// or http://.' }
  if (url.username !== '' || url.password !== '') return { problem: 'must not contain a username or password.' }
  if (!isPublicName(url.hostname) && !EXAMPLE_NAMES.test(url.hostname))
    return { problem: 'must have a public host name, not an IP address or a private network name.' }
  return { href: url.href }
}

/** Reserved example names (RFC 2606). */
const EXAMPLE_NAMES = /^(?:[a-z0-9_-]{1,63}\.){1,10}example$/
