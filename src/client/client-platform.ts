/*
 * The parts of the platform, browsers included, that the client uses by default. `src/platform.ts` belongs to the gateway, and the
 * client imports only `src/lib/` of it.
 */

/** The platform's `fetch`, looked up with each call because tests and instrumentation can replace it at any time. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)

/** Calls `onTime` once after `ms`; returns the function that cancels it. */
export function platformTimer(ms: number, onTime: () => void): () => void {
  const timer = setTimeout(onTime, ms)
  return () => clearTimeout(timer)
}

/** Epoch ms. */
export const platformNow = (): number => Date.now()
