/** How long this thread has been busy, in ms: what others do on the machine meanwhile does not count. */
export function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** How long the work keeps this thread busy, in ms. */
export function cpuMs(work: () => void): number {
  const before = busyMs()
  work()
  return busyMs() - before
}
