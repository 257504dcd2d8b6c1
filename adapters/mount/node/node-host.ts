import type { IncomingMessage } from 'node:http'

const HOST_PATTERN = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Returns whether a `Host` header is a host name or an IP address, with or without a port. */
export const isHost = (host: string): boolean => HOST_PATTERN.test(host) && URL.canParse(`http://${host}`)

/** Returns whether the request has several `Host` headers. Node keeps the first, but a proxy in front of the gateway may have checked the last. */
export function hasTwoHosts({ rawHeaders = [] }: Partial<Pick<IncomingMessage, 'rawHeaders'>>): boolean {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') found++
  }
  return found > 1
}
