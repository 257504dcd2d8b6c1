import type { Gateway } from '../../src/index.ts'
import type { FetchEventLike } from '../types/runtimes.ts'
import { checkGateway } from './lib/check-gateway.ts'

export type { FetchEventLike } from '../types/runtimes.ts'

/**
 * A listener for a service worker's `fetch` events: answers the gateway's paths on the worker's own origin, and leaves all others to the
 * network, as well as forms, which any site may send there. A page that gives up an answer that has begun stops the gateway's work on it.
 */
export function toServiceWorkerHandler(gateway: Pick<Gateway, 'fetch' | 'matches'>): (event: FetchEventLike) => void {
  checkGateway('toServiceWorkerHandler', gateway, 'fetch')
  return (event) => {
    const { request } = event
    // A page may call a provider itself, and its paths look like ours.
    if (new URL(request.url).origin !== location.origin || !gateway.matches(request) || isForm(request)) return
    const waitUntil = (work: Promise<unknown>) => extend(event, work)
    event.respondWith(gateway.fetch(request, { waitUntil, upstream: callProvider }))
  }
}

/** Navigations are the only requests of other sites that come to a worker, and not every browser tells it their origin. */
const isForm = ({ mode, method }: Request) => mode === 'navigate' && method !== 'GET'

/** Calls a provider as a page may: the browser asks it first whether it allows these headers, and Anthropic answers no page without one. */
function callProvider(url: string, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  headers.delete('user-agent') // the browser has its own
  if (headers.has('anthropic-version')) headers.set('anthropic-dangerous-direct-browser-access', 'true')
  return fetch(url, { ...init, headers })
}

/** Extends the event. One that is over can no longer be extended; the work then goes on as long as the browser keeps the worker. */
function extend(event: FetchEventLike, work: Promise<unknown>): void {
  try {
    event.waitUntil(work)
  } catch {}
}
