/** Returns whether a URL's host (`URL.hostname`) is in the public DNS. `URL` normalizes all IP addresses, whose last label isn't a top-level domain. */
export function isPublicName(host: string): boolean {
  const labels = host.split('.')
  const topLevelDomain = labels.at(-1) ?? ''
  if (
    labels.length < 2 ||
    host.length > MAX_NAME_LENGTH ||
    !TOP_LEVEL_PATTERN.test(topLevelDomain) ||
    RESERVED_DOMAINS.has(topLevelDomain)
  )
    return false
  return labels.every((label) => LABEL_PATTERN.test(label)) && !INTERNAL_TARGETS.test(host)
}

const MAX_NAME_LENGTH = 253
const LABEL_PATTERN = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const TOP_LEVEL_PATTERN = /^(?:[a-z]{2,63}|xn--[a-z0-9-]+)$/

/** Top-level domains outside the public DNS: RFC 2606, 6761, 6762, 7686, 8375, 9476, ICANN's `internal`, and home routers. */
const RESERVED_DOMAINS: ReadonlySet<string> = new Set([
  ...['alt', 'arpa', 'cluster', 'consul', 'corp', 'docker', 'domain', 'example', 'home', 'internal', 'intra'],
  ...['intranet', 'invalid', 'lan', 'local', 'localdomain', 'localhost', 'mail', 'onion', 'private', 'svc', 'test'],
  ...['workgroup'],
])

/** Public names that resolve to a cloud's metadata service, to this machine, or to the IP address that they contain. */
const INTERNAL_TARGETS =
  /(?:^|\.)(?:metadata\.goog|nip\.io|sslip\.io|xip\.io|traefik\.me|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com)$/
