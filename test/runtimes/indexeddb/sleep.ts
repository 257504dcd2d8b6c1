/* What stands in for `node:timers/promises` in a browser. */

export const setTimeout = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    globalThis.setTimeout(resolve, ms)
  })
