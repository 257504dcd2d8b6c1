import type { IncomingMessage } from 'node:http'

const SHAPE = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Is the value of a `Host` header a host name or an IP address, with or without a port? */
export const isHost = (host: string): boolean => SHAPE.test(host) && URL.canParse(`http://${host}`)

/** Does the request have more than one `Host` header? Node keeps the first, and a proxy before the gateway may have checked the last. */
export function hasTwoHosts({ rawHeaders = [] }: Partial<Pick<IncomingMessage, 'rawHeaders'>>): boolean {
  let found = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') found++
  }
  return found > 1
}
