/** Returns how long this thread has been busy, in ms. Other load on the machine doesn't count. */
export function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Returns how long the work keeps this thread busy, in ms. */
export function cpuMs(action: () => void): number {
  const before = busyMs()
  action()
  return busyMs() - before
}

const MOST_ROUNDS = 40

/**
 * Measures in rounds until a result is at most `enough`, and returns all results. The first rounds run unoptimized code, and any round may have to
 * share its core.
 */
export async function roundsUntil(enough: number, measure: () => number | Promise<number>): Promise<number[]> {
  const rounds: number[] = []
  while (rounds.length < MOST_ROUNDS && !rounds.some((round) => round <= enough)) rounds.push(await measure())
  return rounds
}
