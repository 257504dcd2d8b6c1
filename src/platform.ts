import type { Clock, Logger } from './types.ts'

/** The platform's own time. */
export const platformClock: Clock = {
  now: () => Date.now(),
  setTimer: (ms, onTime) => {
    const timer = setTimeout(onTime, ms)
    return () => clearTimeout(timer)
  },
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      function onAbort() {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/** The platform's own chance; not for secrets. */
export const platformRandom = (): number => Math.random()

/** For `logger: false`. */
export const silentLogger: Logger = { warn() {}, error() {} }

const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
let turn: Promise<void> | undefined

/**
 * Resolves when the event loop has handled all that came in its present turn, for everybody who waits at once; without waiting where
 * a platform cannot tell. Many requests in one go keep caches warm and wake threads and peers once a turn, not once each. When little
 * happens a turn is over at once.
 */
export function turnEnd(): Promise<void> {
  turn ??= new Promise((resolve) => {
    const end = () => {
      turn = undefined
      resolve()
    }
    if (setImmediate) setImmediate(end)
    else end()
  })
  return turn
}

/** Bun hands over each request and each answer by itself: together they cost it two thirds. */
export const takesTurns = 'Bun' in globalThis

/** The platform's own `fetch`. */
export const platformFetch: typeof fetch = takesTurns
  ? async (...call) => {
      const response = await fetch(...call)
      await turnEnd()
      return response
    }
  : (...call) => fetch(...call)
