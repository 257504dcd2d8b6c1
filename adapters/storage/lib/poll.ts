/**
 * Calls `look` immediately, and again `ms` after each call has settled, until the returned function is called. Ignores failures of `look`. If a
 * call takes longer than `silenceMs`, the next one starts without waiting for it. Doesn't keep the process alive.
 */
export function poll(look: () => Promise<unknown>, ms: number, silenceMs?: number): () => void {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function turn(): Promise<void> {
    let hasEnded = false
    const check = look()
      .catch(() => {})
      .finally(() => {
        hasEnded = true
      })
    await (silenceMs === undefined ? check : Promise.race([check, pause(silenceMs)]))
    if (!isOver) timer = unref(setTimeout(turn, hasEnded ? ms : 0))
  }

  void turn()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** Resolves after `ms`; doesn't keep the process alive. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void unref(setTimeout(resolve, ms)))

/** Lets Node exit while the timer is pending; returns the timer. */
function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  const node: { unref?(): unknown } = Object(timer) // outside Node, a timer is a number
  node.unref?.()
  return timer
}
