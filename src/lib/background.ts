/** Work that outlives the answer it belongs to. */
export interface Background {
  /** Lets work go on by itself; `waitUntil` keeps the platform alive for it. A rejection goes to the error handler. */
  run(work: Promise<unknown>, waitUntil?: (work: Promise<unknown>) => void): void
  /** Settles when all of it has. */
  settled(): Promise<void>
}

/** `onError` is told of each rejection. */
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
