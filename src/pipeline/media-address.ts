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

/** The URL parser has brought every spelling of an IP address into the one form, whose last label is no top-level domain. */
function isPublicName(host: string): boolean {
  const labels = host.split('.')
  const top = labels.at(-1) ?? ''
  if (labels.length < 2 || host.length > MAX_NAME || !TOP_LEVEL.test(top) || RESERVED.has(top)) return false
  return labels.every((label) => LABEL.test(label)) && !INWARD.test(host)
}

const MAX_NAME = 253
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const TOP_LEVEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/

/** Top-level domains that are not of the public DNS: RFC 2606, 6761, 6762, 7686, 8375, 9476, ICANN's `internal`, and those of home routers. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['alt', 'arpa', 'cluster', 'consul', 'corp', 'docker', 'domain', 'example', 'home', 'internal', 'intra'],
  ...['intranet', 'invalid', 'lan', 'local', 'localdomain', 'localhost', 'mail', 'onion', 'private', 'svc', 'test'],
  ...['workgroup'],
])

/** Public names that are known to point inside: to a cloud's own data, to this machine, or to the IP address that they contain. */
const INWARD =
  /(?:^|\.)(?:metadata\.goog|nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/
