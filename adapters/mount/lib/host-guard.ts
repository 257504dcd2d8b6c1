const IP_PATTERN = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/

/**
 * Creates a function that checks whether a server on `hostname` accepts a `Host` header. On a loopback address, it only accepts IP addresses,
 * `localhost`, and `allowedHosts`: a web page can make its own host name resolve to 127.0.0.1 (DNS rebinding), but its requests then contain that
 * name. On other addresses, it accepts every host unless `allowedHosts` is set. Throws a TypeError if `allowedHosts` isn't a list of strings.
 */
export function createHostGuard(hostname: string, allowedHosts?: readonly string[]): (host: string) => boolean {
  const isList = Array.isArray(allowedHosts) && allowedHosts.every((host) => typeof host === 'string')
  if (allowedHosts !== undefined && !isList) throw new TypeError('allowedHosts must be an array of host names.')
  if (!isLoopback(hostname.toLowerCase()) && !allowedHosts) return () => true
  const allowed = new Set(allowedHosts?.map((host) => host.toLowerCase()))
  let lastAllowed: string | undefined // cached, because most requests name the same host
  return (host) => {
    if (host === lastAllowed) return true
    const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
    const isAllowedHost = IP_PATTERN.test(name) || isLoopback(name) || allowed.has(name)
    if (isAllowedHost) lastAllowed = host
    return isAllowedHost
  }
}

/** Returns the error message for a rejected host; `advice` explains how to allow it. */
export const getHostRejection = (host: string, advice = 'To allow it, add it to allowedHosts.'): string =>
  `This gateway does not accept requests for the host "${host}". ${advice}`

const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '::1' ||
  name === '[::1]' ||
  /^127(?:\.\d{1,3}){3}$/.test(name)
