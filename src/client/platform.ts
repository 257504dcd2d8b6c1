/*
 * What the client takes from its platform, browsers included, unless `createClient` is given something else. `src/platform.ts` is the
 * gateway's: the client imports no code of it.
 */

/** The platform's `fetch`, looked up with each call: tests and instrumentation replace it at any time. */
export const platformFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)

/** Calls `onTime` once after `ms`; returns the function that cancels it. */
export function platformTimer(ms: number, onTime: () => void): () => void {
  const timer = setTimeout(onTime, ms)
  return () => clearTimeout(timer)
}
