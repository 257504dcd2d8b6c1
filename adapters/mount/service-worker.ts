import type { Gateway } from '../../src/index.ts'
import type { FetchEventLike } from '../types/service-worker.ts'
import { checkGateway } from './lib/gateway.ts'

export type { FetchEventLike } from '../types/service-worker.ts'

/**
 * A listener for a service worker's `fetch` events: answers the gateway's paths on the worker's own origin, and leaves all others to the
 * network. A page that aborts its request aborts the gateway's.
 */
export function toServiceWorkerHandler(gateway: Pick<Gateway, 'fetch' | 'matches'>): (event: FetchEventLike) => void {
  checkGateway('toServiceWorkerHandler', gateway, 'fetch')
  return (event) => {
    const { request } = event
    // A page may call a provider itself, and its paths look like ours.
    if (new URL(request.url).origin !== location.origin || !gateway.matches(request)) return
    event.respondWith(gateway.fetch(request, { waitUntil: (work: Promise<unknown>) => extend(event, work) }))
  }
}

/** Extends the event. One that is over can no longer be extended; the work then goes on as long as the browser keeps the worker. */
function extend(event: FetchEventLike, work: Promise<unknown>): void {
  try {
    event.waitUntil(work)
  } catch {}
}
