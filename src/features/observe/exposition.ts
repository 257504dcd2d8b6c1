import type { LabelSet, Metric } from './measures.ts'
import { HistogramSeries, type StoredSeries } from './registry.ts'

/** A text format for Prometheus: its own format 0.0.4, or OpenMetrics 1.0. */
export type ExpositionFormat = 'prometheus' | 'openmetrics'

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
}

/**
 * Selects the format that the `Accept` header prefers: OpenMetrics 1.0 if it is weighted at least as high as Prometheus text, otherwise Prometheus
 * text.
 */
export function selectFormat(accept: string | undefined): ExpositionFormat {
  let openMetricsWeight = 0
  let textWeight = 0
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const getParameter = (name: string) =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1)
    const weight = Number(getParameter('q') ?? 1)
    const version = getParameter('version')?.replaceAll('"', '')
    if (!(weight > 0)) continue
    if (type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'))
      openMetricsWeight = Math.max(openMetricsWeight, weight)
    else if (type === 'text/plain' && (version === undefined || version === '0.0.4'))
      textWeight = Math.max(textWeight, weight)
  }
  return openMetricsWeight > 0 && openMetricsWeight >= textWeight ? 'openmetrics' : 'prometheus'
}

/** Formats metrics as text. */
export function formatMetrics(families: Iterable<[Metric, Iterable<StoredSeries>]>, format: ExpositionFormat): string {
  const lines: string[] = []
  for (const [measure, series] of families) {
    const name = getFamilyName(measure)
    const isCounter = measure.kind === 'counter'
    const sampleName = isCounter ? `${name}_total` : name
    const declaredName = format === 'prometheus' ? sampleName : name
    const type = measure.kind === 'upDown' ? 'gauge' : measure.kind
    lines.push(`# HELP ${declaredName} ${escapeText(measure.help, format)}`, `# TYPE ${declaredName} ${type}`)
    if (format === 'openmetrics' && measure.unit === 's') lines.push(`# UNIT ${declaredName} seconds`)
    for (const item of series) {
      if (item instanceof HistogramSeries) lines.push(...formatHistogram(name, item, format))
      else lines.push(`${sampleName}${formatLabels(item.labels)} ${item.value}`)
    }
  }
  if (format === 'openmetrics') lines.push('# EOF')
  return `${lines.join('\n')}\n`
}

/**
 * Converts a metric's name to the Prometheus name that OpenTelemetry specifies: dots become `_`, and the unit `s` adds `_seconds`. Names of counter
 * samples also end in `_total`.
 */
export const getFamilyName = ({ name, unit }: Metric): string =>
  `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`

function* formatHistogram(
  name: string,
  { labels, bounds, counts, sum }: HistogramSeries,
  format: ExpositionFormat,
): Generator<string> {
  let count = 0
  for (const [index, bound] of bounds.entries()) {
    count += counts[index] ?? 0
    yield `${name}_bucket${formatLabels(labels, formatBound(bound, format))} ${count}`
  }
  count += counts[bounds.length] ?? 0
  yield `${name}_bucket${formatLabels(labels, '+Inf')} ${count}`
  yield `${name}_sum${formatLabels(labels)} ${sum}`
  yield `${name}_count${formatLabels(labels)} ${count}`
}

/** Formats a bucket's bound. OpenMetrics requires floats. */
const formatBound = (bound: number, format: ExpositionFormat) =>
  format === 'openmetrics' && Number.isInteger(bound) ? `${bound}.0` : `${bound}`

function formatLabels(labels: LabelSet, bound?: string): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name.replaceAll('.', '_')}="${escapeText(value)}"`)
  if (bound !== undefined) pairs.push(`le="${bound}"`)
  return pairs.length > 0 ? `{${pairs.join(',')}}` : ''
}

/** Escapes a label value or a help string. The older format doesn't escape quotes in help strings. */
function escapeText(text: string, helpFormat?: ExpositionFormat): string {
  const lines = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return helpFormat === 'prometheus' ? lines : lines.replaceAll('"', '\\"')
}
