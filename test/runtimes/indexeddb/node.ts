/* Replaces `node:timers/promises` and `node:util` in a browser. */

export const setTimeout = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    globalThis.setTimeout(resolve, ms)
  })

export const inspect = (shown: unknown): string => String(shown)

export const types = {
  isMap: (shown: unknown): boolean => shown instanceof Map,
  isSet: (shown: unknown): boolean => shown instanceof Set,
}
