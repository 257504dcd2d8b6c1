/*
 * The platform functions that the client uses by default; they also work in browsers. `src/platform.ts` belongs to the gateway; the client imports
 * only the gateway's `src/lib/`.
 */

/** Calls the platform's `fetch`. Looks it up on each call, because tests and instrumentation can replace it at any time. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)

/** Calls `onExpire` once after `ms`. Returns a function that cancels it. */
export function startPlatformTimer(ms: number, onExpire: () => void): () => void {
  const timer = setTimeout(onExpire, ms)
  return () => clearTimeout(timer)
}

/** Returns the current time in epoch ms. */
export const platformNow = (): number => Date.now()
