import type { LabelSet, Metric } from './measures.ts'
import { HistogramSeries, type StoredSeries } from './registry.ts'

/** A text format that Prometheus reads: its own of 2014, or OpenMetrics 1.0. */
export type ExpositionFormat = 'prometheus' | 'openmetrics'

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
}

/** Which format a scrape prefers by its `Accept`; the older one unless OpenMetrics 1.0 weighs more. */
export function preferredFormat(accept: string | undefined): ExpositionFormat {
  let openMetrics = 0
  let text = 0
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const value = (name: string) => parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1)
    const weight = Number(value('q') ?? 1)
    const version = value('version')?.replaceAll('"', '')
    if (!(weight > 0)) continue
    if (type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'))
      openMetrics = Math.max(openMetrics, weight)
    else if (type === 'text/plain' && (version === undefined || version === '0.0.4')) text = Math.max(text, weight)
  }
  return openMetrics > 0 && openMetrics >= text ? 'openmetrics' : 'prometheus'
}

/** The measures as text. */
export function expose(families: Iterable<[Metric, Iterable<StoredSeries>]>, format: ExpositionFormat): string {
  const lines: string[] = []
  for (const [measure, series] of families) {
    const name = familyName(measure)
    const isCounter = measure.kind === 'counter'
    const sample = isCounter ? `${name}_total` : name
    const declared = format === 'prometheus' ? sample : name
    const type = measure.kind === 'upDown' ? 'gauge' : measure.kind
    lines.push(`# HELP ${declared} ${escaped(measure.help, format)}`, `# TYPE ${declared} ${type}`)
    if (format === 'openmetrics' && measure.unit === 's') lines.push(`# UNIT ${declared} seconds`)
    for (const one of series) {
      if (one instanceof HistogramSeries) lines.push(...histogramLines(name, one, format))
      else lines.push(`${sample}${labelText(one.labels)} ${one.value}`)
    }
  }
  if (format === 'openmetrics') lines.push('# EOF')
  return `${lines.join('\n')}\n`
}

/** The name in Prometheus by the standard translation: blanks of dots, `_seconds` for `s`; counters have `_total` in their samples. */
export const familyName = ({ name, unit }: Metric): string =>
  `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`

function* histogramLines(
  name: string,
  { labels, bounds, counts, sum }: HistogramSeries,
  format: ExpositionFormat,
): Generator<string> {
  let count = 0
  for (const [at, bound] of bounds.entries()) {
    count += counts[at] ?? 0
    yield `${name}_bucket${labelText(labels, boundText(bound, format))} ${count}`
  }
  count += counts[bounds.length] ?? 0
  yield `${name}_bucket${labelText(labels, '+Inf')} ${count}`
  yield `${name}_sum${labelText(labels)} ${sum}`
  yield `${name}_count${labelText(labels)} ${count}`
}

/** OpenMetrics writes bounds as floats. */
const boundText = (bound: number, format: ExpositionFormat) =>
  format === 'openmetrics' && Number.isInteger(bound) ? `${bound}.0` : `${bound}`

function labelText(labels: LabelSet, bound?: string): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(value)}"`)
  if (bound !== undefined) pairs.push(`le="${bound}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

/** Escapes a label's value, or a help text: the older format leaves quotes in those alone. */
function escaped(text: string, helpIn?: ExpositionFormat): string {
  const lines = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return helpIn === 'prometheus' ? lines : lines.replaceAll('"', '\\"')
}
