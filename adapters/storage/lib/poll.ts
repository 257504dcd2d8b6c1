/**
 * Calls `look` at once, and again `ms` after each call has settled, until the function that it returns is called. Failures of `look` are
 * ignored; when a call takes longer than `silenceMs`, the next one begins without waiting for it. Keeps no process alive.
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

/** Resolves after `ms`; keeps no process alive. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void unref(setTimeout(resolve, ms)))

/** A timer that does not keep Node alive. */
function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  const node: { unref?(): unknown } = Object(timer) // outside Node a timer is a number
  node.unref?.()
  return timer
}
