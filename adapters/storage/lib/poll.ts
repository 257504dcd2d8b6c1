/**
 * Looks at a store at once, and again so many ms after each look, until the function that it returns is called. A failed look is made up for by
 * the next, which begins at once when a look takes longer than `silenceMs`. Keeps no process alive.
 */
export function poll(look: () => Promise<unknown>, ms: number, silenceMs?: number): () => void {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function turn(): Promise<void> {
    let hasEnded = false
    const looking = look()
      .catch(() => {})
      .finally(() => {
        hasEnded = true
      })
    await (silenceMs === undefined ? looking : Promise.race([looking, pause(silenceMs)]))
    if (!isOver) timer = unref(setTimeout(turn, hasEnded ? ms : 0))
  }

  void turn()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** Resolves after so many ms; keeps no process alive. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => void unref(setTimeout(resolve, ms)))

/** A timer that does not keep Node alive. */
function unref(timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> {
  const node: { unref?(): unknown } = Object(timer) // a number elsewhere
  node.unref?.()
  return timer
}
