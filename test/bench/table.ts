/** One round of one way to the provider. `cpuPerUnit` in microseconds, `times` in milliseconds, `rss` in bytes. */
export interface Sample {
  way: string
  perSecond: number
  times: number[]
  cpuPerUnit: number
  rss: number
}

/**
 * Medians of the samples by way. CPU and memory are compared with those of `floor` in the same round, since the machine is not as fast in
 * each; `without` is the way that has nothing in between.
 */
export function table(samples: readonly Sample[], { floor, without }: { floor: string; without: string }): string {
  const all = (way: string, figure: (sample: Sample) => number) =>
    samples.filter((sample) => sample.way === way).map(figure)
  const of = (way: string, figure: (sample: Sample) => number) => median(all(way, figure))
  const ratio = (way: string, figure: (sample: Sample) => number) => {
    const floors = all(floor, figure)
    return median(all(way, figure).map((value, round) => value / (floors[round] ?? Number.NaN)))
  }
  const rows = [...new Set(samples.map(({ way }) => way))].map((way) => {
    return [
      way,
      of(way, (sample) => sample.perSecond).toFixed(0),
      of(way, (sample) => quantile(sample.times, 0.5)).toFixed(2),
      of(way, (sample) => quantile(sample.times, 0.99)).toFixed(2),
      way === without ? '' : of(way, (sample) => sample.cpuPerUnit).toFixed(1),
      way === without ? '' : ratio(way, (sample) => sample.cpuPerUnit).toFixed(2),
      way === without ? '' : (of(way, (sample) => sample.rss) / 2 ** 20).toFixed(0),
      way === without ? '' : ratio(way, (sample) => sample.rss).toFixed(2),
    ]
  })
  return [['', 'per second', 'p50 ms', 'p99 ms', 'CPU us', 'ratio', 'MiB', 'ratio'], ...rows]
    .map((cells) => cells.map((cell, at) => (at === 0 ? cell.padEnd(10) : cell.padStart(12))).join(''))
    .join('\n')
}

const median = (values: number[]) => quantile(values, 0.5)

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
