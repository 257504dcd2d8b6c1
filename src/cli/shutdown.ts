/** How long answers under way have to finish. */
export const GRACE_MS = 10_000

/** Ctrl-C under npm, and a service manager that signals the whole group, deliver one wish to stop twice. */
const SAME_WISH_MS = 1_000

/** Calls `stop` on the first SIGTERM or SIGINT; another one, at least a second later, ends the program at once with exit code 1. */
export function onStopSignal(stop: () => void): void {
  let firstAt: number | undefined
  const listener = () => {
    if (firstAt === undefined) {
      firstAt = performance.now()
      stop()
    } else if (performance.now() - firstAt >= SAME_WISH_MS) process.exit(1)
  }
  process.on('SIGTERM', listener).on('SIGINT', listener)
}
