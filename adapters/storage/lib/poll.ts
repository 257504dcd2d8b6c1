/**
 * Calls `check` immediately, and again `ms` after each call has settled, until the returned function is called. Ignores failures of `check`. If a
 * call takes longer than `timeoutMs`, the next call starts without waiting for it. Doesn't keep the process alive.
 */
export function poll(check: () => Promise<unknown>, ms: number, timeoutMs?: number): () => void {
  let hasStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function runOnce(): Promise<void> {
    let hasEnded = false
    const attempt = check()
      .catch(() => {})
      .finally(() => {
        hasEnded = true
      })
    await (timeoutMs === undefined ? attempt : Promise.race([attempt, pause(timeoutMs)]))
    if (!hasStopped) timer = unref(setTimeout(runOnce, hasEnded ? ms : 0))
  }

  void runOnce()
  return () => {
    hasStopped = true
    clearTimeout(timer)
  }
}

/** Resolves after `ms`; doesn't keep the process alive. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void unref(setTimeout(resolve, ms)))

/** Lets Node exit while the timer is pending. Returns the timer. */
function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  const node: { unref?(): unknown } = Object(timer) // outside Node, a timer is a number
  node.unref?.()
  return timer
}
