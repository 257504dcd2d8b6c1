/** One round of one way to the provider. `cpuPerUnit` in microseconds, `times` in milliseconds, `rss` in bytes. */
export interface Sample {
  way: string
  perSecond: number
  times: number[]
  cpuPerUnit: number
  rss: number
}

interface RowsOptions {
  /** The way that CPU time and memory are compared with. */
  floor: string
  /** The way that has nothing in between. */
  without: string
  /** What the ratio of the CPU time of the gateway is to be at most. */
  aim: number | undefined
}

/** The head of the table. */
export const head = line(['', 'per second', 'p50 ms', 'p99 ms', 'CPU us', 'ratio', 'at most', 'MiB', 'ratio'])

/**
 * The rows of a suite: medians of its samples, by way. CPU and memory are compared with those of the floor in the same round, since the
 * machine is not as fast in each.
 */
export function rows(samples: readonly Sample[], { floor, without, aim }: RowsOptions): string {
  const all = (way: string, figure: (sample: Sample) => number) =>
    samples.filter((sample) => sample.way === way).map(figure)
  const of = (way: string, figure: (sample: Sample) => number) => median(all(way, figure))
  const ratio = (way: string, figure: (sample: Sample) => number) => {
    const floors = all(floor, figure)
    return median(all(way, figure).map((value, round) => value / (floors[round] ?? Number.NaN)))
  }
  const ways = [...new Set(samples.map(({ way }) => way))]
  return ways
    .map((way) => {
      const measured = [
        of(way, (sample) => sample.perSecond).toFixed(0),
        of(way, (sample) => quantile(sample.times, 0.5)).toFixed(2),
        of(way, (sample) => quantile(sample.times, 0.99)).toFixed(2),
      ]
      if (way === without) return line([`  ${way}`, ...measured])
      return line([
        `  ${way}`,
        ...measured,
        of(way, (sample) => sample.cpuPerUnit).toFixed(1),
        ratio(way, (sample) => sample.cpuPerUnit).toFixed(2),
        way === floor ? '' : (aim?.toFixed(2) ?? ''),
        (of(way, (sample) => sample.rss) / 2 ** 20).toFixed(0),
        ratio(way, (sample) => sample.rss).toFixed(2),
      ])
    })
    .join('\n')
}

function line(cells: readonly string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(12) : cell.padStart(11))).join('')
}

const median = (values: number[]) => quantile(values, 0.5)

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
