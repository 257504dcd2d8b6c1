/** Resolves after `ms`. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Resolves to the result of `work`. If that takes longer than `ms`, resolves to the result of `onTimeout`, which rejects by default. */
export function withTimeout<T, Late = never>(
  work: Promise<T>,
  ms: number,
  onTimeout: () => Late = () => {
    throw new Error(`no response in ${Math.ceil(ms)} ms`)
  },
): Promise<T | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return Promise.race([work, end.then(onTimeout)]).finally(() => clearTimeout(timer))
}
