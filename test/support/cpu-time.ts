/** How long the work keeps this process busy, in ms: what others do on the machine meanwhile does not count. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
