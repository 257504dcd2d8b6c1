import { isIP } from 'node:net'

/** Is what listens there reached from this machine only? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
