const SHAPE = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

let lastGood = ''

/** Is the value of a `Host` header a host name or an IP address, with or without a port? */
export function isHost(host: string): boolean {
  if (host === lastGood) return true
  if (!SHAPE.test(host) || !URL.canParse(`http://${host}`)) return false
  lastGood = host
  return true
}
