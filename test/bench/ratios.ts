/*
 * The arithmetic of the benchmark. Each round measures all of a suite's rows in turn, and each figure is summarized over all rounds before it is
 * compared. Other work on the machine only adds time to a request, so the lowest value is closest to the true cost: one quiet round is enough to keep
 * a ratio within its budget, while a regression shows in every round. Chunks are different: a process that has waited for its CPU then reads several
 * at once, which makes each one cheaper, so their CPU time is summarized by the median. So is memory, which depends on garbage collection timing.
 */

export const figures = {
  cpuPerRequest: { label: 'CPU µs', summary: 'lowest', headroom: 1.12 },
  cpuPerChunk: { label: 'CPU µs', summary: 'median', headroom: 1.12 },
  added: { label: 'added p50 µs', summary: 'lowest', headroom: 1.25 },
  p50: { label: 'p50 ms', summary: 'lowest', headroom: 1.25 },
  p99: { label: 'p99 ms', summary: 'lowest', headroom: 1.5 },
  lagP50: { label: 'lag p50 ms', summary: 'lowest', headroom: 1.5 },
  lagP99: { label: 'lag p99 ms', summary: 'lowest', headroom: 1.5 },
  memory: { label: 'peak MiB', summary: 'median', headroom: 1.15 },
  start: { label: 'start ms', summary: 'lowest', headroom: 1.15 },
  rate: { label: 'per second', summary: 'highest', headroom: 1.25 },
} as const satisfies Record<string, { label: string; summary: 'lowest' | 'median' | 'highest'; headroom: number }>

export type Figure = keyof typeof figures

/** A measurement of one row in one round. */
export interface Sample {
  suite: string
  row: string
  figures: Partial<Record<Figure, number>>
  /** How long a fixed amount of work took on the same CPU, in ms: the longer of one run before the measurement and one after. */
  paceMs?: number
}

/**
 * Returns the samples that were measured while the CPU was at most `factor` times slower than at its fastest. A shared host can slow a CPU down to a
 * fifth of its speed for seconds, without any trace in the system statistics. Samples from such a time can't be compared.
 */
export function keepSteady(samples: readonly Sample[], factor: number): Sample[] {
  const fastest = Math.min(...samples.map(({ paceMs = Number.POSITIVE_INFINITY }) => paceMs))
  return samples.filter(({ paceMs = fastest }) => paceMs <= factor * fastest)
}

/** A comparison of a row's figure with the same figure of the row `floor`. */
export interface Comparison {
  suite: string
  row: string
  floor: string
  figure: Figure
}

export interface Budget {
  /** The highest ratio allowed. */
  atMost: number
  /** Why the budget was last changed. */
  reason: string
}

export type Budgets = Record<string, Budget>

export interface Result extends Comparison {
  /** `NaN` if one of the rows wasn't measured. */
  ratio: number
  /** `undefined` if the figure has no budget. */
  atMost: number | undefined
  isExceeded: boolean
}

/** Returns the name of a comparison in the budgets file. */
export function formatId({ suite, row, figure }: Pick<Comparison, 'suite' | 'row' | 'figure'>): string {
  return `${suite}.${row}.${figure}`
}

/** Summarizes a row's figure over all rounds. Returns `NaN` if there are no samples. */
export function summarize(samples: readonly Sample[], { suite, row, figure }: Omit<Comparison, 'floor'>): number {
  const values = samples
    .filter((sample) => sample.suite === suite && sample.row === row)
    .flatMap((sample) => sample.figures[figure] ?? [])
    .sort((a, b) => a - b)
  const { summary } = figures[figure]
  const index = summary === 'lowest' ? 0 : summary === 'highest' ? values.length - 1 : (values.length - 1) >> 1
  return values[index] ?? Number.NaN
}

/**
 * Adds the latency that a row adds to a request to each sample, in suites with a row `direct`. Subtracts the lowest value of `direct`, because the
 * value from the same round may be inflated by noise, which would make the difference too small.
 */
export function addLatency(samples: readonly Sample[]): Sample[] {
  return samples.map((sample) => {
    const direct = summarize(samples, { suite: sample.suite, row: 'direct', figure: 'p50' })
    const { p50 } = sample.figures
    if (Number.isNaN(direct) || p50 === undefined) return sample
    return { ...sample, figures: { ...sample.figures, added: (p50 - direct) * 1_000 } }
  })
}

export function compare(samples: readonly Sample[], comparisons: readonly Comparison[], budgets: Budgets): Result[] {
  return comparisons.map((comparison) => {
    const ratio = summarize(samples, comparison) / summarize(samples, { ...comparison, row: comparison.floor })
    const atMost = budgets[formatId(comparison)]?.atMost
    const isExceeded = atMost !== undefined && !(ratio <= atMost) // also true for `NaN`, so a row that couldn't be measured counts as over budget
    return { ...comparison, ratio, atMost, isExceeded }
  })
}

/** Returns the budget for a measured ratio, rounded up to two decimals. Its headroom is more than the noise and less than a 20 to 30% regression. */
export function suggestBudget(figure: Figure, ratio: number): number {
  return Math.ceil(Number((ratio * figures[figure].headroom * 100).toFixed(6))) / 100
}

/** Returns budgets for the measured comparisons. Keeps all other budgets, and the reasons unless a new one is given. */
export function suggestBudgets(results: readonly Result[], current: Budgets, reason?: string): Budgets {
  const suggested = { ...current }
  for (const result of results) {
    if (!Number.isFinite(result.ratio)) continue
    const id = formatId(result)
    const atMost = suggestBudget(result.figure, result.ratio)
    if (current[id]?.atMost === atMost) continue
    suggested[id] = { atMost, reason: reason ?? current[id]?.reason ?? '' }
  }
  return suggested
}
