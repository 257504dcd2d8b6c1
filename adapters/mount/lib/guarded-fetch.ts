import { createHostGuard, hostRefusal } from './host-guard.ts'

type Fetch = (request: Request) => Promise<Response>

export interface GuardedFetchOptions {
  /** The address that the server listens on. */
  hostname: string
  allowedHosts: readonly string[] | undefined
}

/** The handler, for requests whose `Host` the server may answer (`createHostGuard`). */
export function guardedFetch(fetch: Fetch, { hostname, allowedHosts }: GuardedFetchOptions): Fetch {
  const isWelcome = createHostGuard(hostname, allowedHosts)
  return async (request) => {
    const host = request.headers.get('host')
    if (host === null || isWelcome(host)) return fetch(request)
    return Response.json({ error: hostRefusal(host) }, { status: 403, headers: { 'cache-control': 'no-store' } })
  }
}
