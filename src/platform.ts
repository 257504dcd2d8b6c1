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

export const silentLogger: Logger = { warn() {}, error() {} }
