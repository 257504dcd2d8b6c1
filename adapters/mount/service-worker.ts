import type { Gateway } from '../../src/index.ts'
import type { FetchGateway } from '../types/gateway-types.ts'
import type { FetchEventLike } from '../types/runtimes.ts'
import { checkGateway } from './lib/check-gateway.ts'

export type { FetchEventLike } from '../types/runtimes.ts'

/**
 * Creates a listener for a service worker's `fetch` events. It handles the gateway's paths on the worker's own origin and leaves everything else to
 * the network, including form submissions, which any site can send there. If a page cancels a response that has started, the gateway stops working on
 * it.
 */
export function toServiceWorkerHandler(
  gateway: FetchGateway & Pick<Gateway, 'matches'>,
): (event: FetchEventLike) => void {
  checkGateway('toServiceWorkerHandler', gateway, 'fetch')
  return (event) => {
    const { request } = event
    // Pages may call a provider directly, and its paths are the same as the gateway's.
    if (new URL(request.url).origin !== location.origin || !gateway.matches(request) || isForm(request)) return
    const waitUntil = (work: Promise<unknown>) => extend(event, work)
    event.respondWith(gateway.fetch(request, { waitUntil, upstream: callProvider }))
  }
}

/**
 * Returns whether the request submits a form. Navigations are the only requests from other sites that reach a worker, and not every browser sends
 * their origin.
 */
const isForm = ({ mode, method }: Request) => mode === 'navigate' && method !== 'GET'

/**
 * Calls a provider under the rules for web pages: the browser first asks the provider whether it allows these headers, and Anthropic only accepts
 * calls from pages that send an extra header.
 */
function callProvider(url: string, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  headers.delete('user-agent') // the browser sets its own user agent
  if (headers.has('anthropic-version')) headers.set('anthropic-dangerous-direct-browser-access', 'true')
  return fetch(url, { ...init, headers })
}

/** Extends the event. An event that has ended can't be extended; the work then continues for as long as the browser keeps the worker alive. */
function extend(event: FetchEventLike, work: Promise<unknown>): void {
  try {
    event.waitUntil(work)
  } catch {}
}
