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

const MOST_ROUNDS = 40

/** What each round measures, until one is at most `enough`: the first ones run code that is not optimized yet, and any may share its core. */
export async function roundsUntil(enough: number, measure: () => number | Promise<number>): Promise<number[]> {
  const rounds: number[] = []
  while (rounds.length < MOST_ROUNDS && !rounds.some((one) => one <= enough)) rounds.push(await measure())
  return rounds
}
