/** Returns this thread's CPU time so far, in ms, which excludes other load on the machine. */
export function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Returns how much of this thread's CPU time the action takes, in ms. */
export function cpuMs(action: () => void): number {
  const before = busyMs()
  action()
  return busyMs() - before
}

const MOST_ROUNDS = 40

/**
 * Measures in rounds until a result is at most `enough`, and returns all results. The first rounds run unoptimized code, and any round may have to
 * share its core with other processes.
 */
export async function roundsUntil(enough: number, measure: () => number | Promise<number>): Promise<number[]> {
  const rounds: number[] = []
  while (rounds.length < MOST_ROUNDS && !rounds.some((round) => round <= enough)) rounds.push(await measure())
  return rounds
}
