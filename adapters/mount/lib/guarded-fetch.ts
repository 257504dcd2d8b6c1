import { createHostGuard, hostRefusal } from './host-guard.ts'
import { refusal } from './refusal.ts'

/** `server`: what the runtime passes beside the request. */
type Fetch = (request: Request, server?: unknown) => Promise<Response>

export interface GuardedFetchOptions {
  /** The address that the server listens on. */
  hostname: string
  allowedHosts: readonly string[] | undefined
}

/** The handler, for requests whose `Host` the server may answer (`createHostGuard`). */
export function guardedFetch(fetch: Fetch, { hostname, allowedHosts }: GuardedFetchOptions): Fetch {
  const isWelcome = createHostGuard(hostname, allowedHosts)
  return async (request, server) => {
    const host = request.headers.get('host')
    const isOne = host !== null && !host.includes(',') // the gateway refuses others as malformed
    if (!isOne || isWelcome(host)) return fetch(request, server)
    return refusal(403, hostRefusal(host))
  }
}
