/** Work that goes on after the answer it belongs to. */
export interface Background {
  /** Keeps track of work; `waitUntil` keeps the platform running for it. Rejections go to `onError`. */
  run(work: Promise<unknown>, waitUntil?: (work: Promise<unknown>) => void): void
  /** Resolves when all work has settled. */
  settled(): Promise<void>
}

/** `onError` is called with each rejection. */
export function createBackground(onError: (error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(work, waitUntil) {
      const tracked: Promise<unknown> = work.catch(onError).finally(() => running.delete(tracked))
      running.add(tracked)
      waitUntil?.(tracked)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
