/** The event that a service worker gets for each request of its pages, as far as a mount needs it. */
export interface FetchEventLike {
  readonly request: Request
  respondWith(response: Promise<Response>): void
  waitUntil(work: Promise<unknown>): void
}
