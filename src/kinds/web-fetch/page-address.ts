import { isPublicName } from '../../lib/public-names.ts'

const MAX_LENGTH = 2_048

/**
 * The address of a page that may be fetched, as every platform parses it, so that a vendor's server finds the same host in it. Otherwise the reason
 * why it is not fetched: a vendor's server may run in a private network of the user, where an address can lead to servers that are not reachable from
 * outside.
 */
export function pageAddress(text: string): { href: string; problem?: undefined } | { problem: string } {
  if (text.length > MAX_LENGTH) return { problem: `must have at most ${MAX_LENGTH} characters.` }
  if (!URL.canParse(text)) return { problem: 'must be the whole address of a page, such as "https://example.com/".' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'must begin with https:// or http://.' }
  if (url.username !== '' || url.password !== '') return { problem: 'must have no user and no password in it.' }
  if (!isPublicName(url.hostname) && !DOCUMENTATION.test(url.hostname))
    return { problem: 'must have a public host name, and no IP address or name of a private network.' }
  return { href: url.href }
}

/** Names of examples, which lead nowhere (RFC 2606). */
const DOCUMENTATION = /^(?:[a-z0-9_-]{1,63}\.){1,10}example$/
