/** One round of one way to the provider. `cpuPerUnit` in microseconds, `times` in milliseconds, `rss` in bytes. */
export interface Sample {
  way: string
  perSecond: number
  times: number[]
  cpuPerUnit: number
  rss: number
}

/** Medians of the samples by way. CPU and memory are compared with `floor`; `without` is the way that has nothing in between. */
export function table(samples: readonly Sample[], { floor, without }: { floor: string; without: string }): string {
  const of = (way: string, figure: (sample: Sample) => number) =>
    median(samples.filter((sample) => sample.way === way).map(figure))
  const rows = [...new Set(samples.map(({ way }) => way))].map((way) => {
    const cpu = of(way, (sample) => sample.cpuPerUnit)
    const rss = of(way, (sample) => sample.rss)
    const ratio = cpu / of(floor, (sample) => sample.cpuPerUnit)
    const rssRatio = rss / of(floor, (sample) => sample.rss)
    return [
      way,
      of(way, (sample) => sample.perSecond).toFixed(0),
      of(way, (sample) => quantile(sample.times, 0.5)).toFixed(2),
      of(way, (sample) => quantile(sample.times, 0.99)).toFixed(2),
      way === without ? '' : cpu.toFixed(1),
      way === without ? '' : ratio.toFixed(2),
      way === without ? '' : (rss / 2 ** 20).toFixed(0),
      way === without ? '' : rssRatio.toFixed(2),
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
