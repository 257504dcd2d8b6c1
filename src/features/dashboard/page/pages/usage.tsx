import { useAction, useData } from '../page-data.ts'
import {
  formatCompact,
  formatDay,
  formatDuration,
  formatHour,
  formatMoment,
  formatMoney,
  formatNumber,
  formatPercent,
} from '../page-format.ts'
import { getRange, getRangeQuery, RangeFields } from '../ranges.tsx'
import { bindQuery, buildLink, route, setQuery } from '../route.ts'
import { api, getAuthHeaders, getUrl, trackedFetch } from '../session.ts'
import { Await, Button, Problem, Text } from '../ui/basics.tsx'
import { Chart, type Part } from '../ui/chart.tsx'
import { SelectField, toChoices } from '../ui/forms.tsx'
import { Cards } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Summary = Awaited<ReturnType<typeof api.value.usage.summary>>
type Row = Summary['rows'][number]
type Totals = Summary['totals']
const groupings = {
  key: 'Key',
  group: 'Group',
  account: 'Account',
  model: 'Requested model',
  target: 'Target',
  user: 'End user',
} as const
const filters = {
  keyId: 'Key',
  groupId: 'Group',
  account: 'Account',
  model: 'Requested model',
  target: 'Target',
} as const
const measureLabels = { costUsd: 'Cost', requests: 'Requests', tokens: 'Tokens' } as const
type Measure = keyof typeof measureLabels

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DEFAULT_RANGE = '1'
/** Ranges longer than this, in hours, are charted by day. */
const MAX_HOURS = 72

/** Shows usage by key, group, account, model, target, or end user. */
export default function Usage() {
  const { state, reload } = useData(load, { intervalMs: 30_000 })
  return (
    <>
      <Filters names={state.value.value?.names} />
      <Await of={state.value} onRetry={reload}>
        {({ names, ...summary }) =>
          summary.totals.requests === 0 ? (
            <p class="empty">No requests in this time range.</p>
          ) : (
            <>
              <Figures totals={summary.totals} before={summary.before?.totals} />
              {summary.totals.unpriced > 0 && (
                <p class="notice">Some costs are missing because a model’s price is unknown.</p>
              )}
              <Chart {...toChart(summary, names)} />
              <Table
                caption="Usage"
                columns={getColumns(names, summary.totals)}
                rows={summary.rows}
                getKey={(row) => JSON.stringify([row.others, row.target, getRowValue(row)])}
                totals={['Total', ...getTotalColumns(summary.totals).map(({ cell }) => cell(summary.totals))]}
              />
              <Export />
            </>
          )
        }
      </Await>
    </>
  )
}

const getSelection = () => {
  const { query } = route.value
  const by = toChoices(groupings).find(([grouping]) => grouping === query.get('by'))?.[0] ?? 'key'
  const measure = toChoices(measureLabels).find(([name]) => name === query.get('show'))?.[0] ?? 'costUsd'
  const filter = Object.fromEntries(
    Object.keys(filters).flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  )
  return { by, measure, range: getRange(DEFAULT_RANGE), filter }
}

type Names = ReadonlyMap<string, string>

async function load() {
  const { by, measure, range, filter } = getSelection()
  const { from = new Date(Date.now() - 30 * DAY_MS).toISOString(), to } = range // a custom range may lack its start date
  const isHourly = (to === undefined ? Date.now() : Date.parse(to)) - Date.parse(from) <= MAX_HOURS * HOUR_MS
  const { names = {}, ...summary } = await api.value.usage.summary({
    ...filter,
    from,
    ...(to !== undefined && { to }),
    by,
    order: measure === 'costUsd' ? 'cost' : measure,
    top: 1_000,
    series: isHourly ? 'hour' : 'day',
    compare: 'before',
    names: true,
  })
  return { ...summary, isHourly, names: new Map(Object.entries(names)) }
}

function Filters({ names = new Map() }: { names: Names | undefined }) {
  const { by, measure, filter } = getSelection()
  const isFiltered = Object.keys(filter).length > 0
  return (
    <div class="tools">
      <RangeFields fallback={DEFAULT_RANGE} />
      <SelectField label="Group by" of={bindQuery('by', by)} options={toChoices(groupings)} />
      <SelectField label="Metric" of={bindQuery('show', measure)} options={toChoices(measureLabels)} />
      {toChoices(filters).map(([name, title]) => {
        const value = filter[name]
        return (
          value !== undefined && (
            <Button key={name} label={`Remove filter: ${title}`} onClick={() => setQuery({ [name]: '' })}>
              {title}: <Text of={names.get(value) ?? value} /> ✕
            </Button>
          )
        )
      })}
      {isFiltered && (
        <a href={buildLink('requests', '', { ...getRangeQuery(DEFAULT_RANGE), ...filter })}>View matching requests</a>
      )}
    </div>
  )
}

const groupFields = {
  key: 'keyId',
  group: 'groupId',
  account: 'account',
  model: 'model',
  target: 'target',
  user: 'user',
} as const

/** Returns the value that a row is grouped by, such as a key's ID. */
function getRowValue(row: Row): string {
  const value = row[groupFields[getSelection().by]] ?? ''
  return typeof value === 'string' ? value : `${value.provider}/${value.model}`
}

const getRowName = (names: Names, row: Row) =>
  row.others === undefined
    ? (names.get(getRowValue(row)) ?? (getRowValue(row) || 'None'))
    : `${formatNumber(row.others)} others`

const getMeasure = ({ costUsd, requests, tokens }: Totals, measure: Measure): number => {
  if (measure === 'costUsd') return costUsd
  return measure === 'requests' ? requests : tokens.input + tokens.output
}

const getFormat = (measure: Measure) => (measure === 'costUsd' ? formatMoney : formatCompact)

/** Shows totals for all matching requests, compared with the preceding period. */
function Figures({ totals, before }: { totals: Totals; before: Totals | undefined }) {
  const { input, output } = totals.tokens
  const figures = [
    ['Cost', formatCost(totals), formatChange(totals.costUsd, before?.costUsd)],
    ['Requests', formatNumber(totals.requests), formatChange(totals.requests, before?.requests)],
    ['Failed', formatPercent(getFailedShare(totals))],
    ['Tokens in / out', `${formatCompact(input)} / ${formatCompact(output)}`],
    ['Cached input', formatPercent(getCachedShare(totals))],
    ...(totals.cacheSavedUsd === undefined
      ? []
      : ([['Saved by prompt caching', formatMoney(totals.cacheSavedUsd)]] as const)),
    [
      'Median time to first token',
      formatTime(totals.firstByteMs?.p50),
      formatChange(totals.firstByteMs?.p50, before?.firstByteMs?.p50),
    ],
  ] as const
  return <Cards of={figures} />
}

/** Formats a cost and marks it as a minimum if the price of some calls is unknown. */
const formatCost = ({ costUsd, unpriced }: Totals) => `${unpriced > 0 ? '≥ ' : ''}${formatMoney(costUsd)}`

const formatTime = (ms: number | undefined) => (ms === undefined ? '–' : formatDuration(ms))

function formatChange(current: number | undefined, previous: number | undefined): string | undefined {
  if (!current || !previous) return undefined
  const change = current / previous - 1
  return `${change >= 0 ? '+' : '−'}${formatPercent(Math.abs(change))} vs. previous period`
}

/** Builds the chart data: the five largest rows and the sum of all others. */
function toChart(summary: Summary & { isHourly: boolean }, names: Names) {
  const { measure } = getSelection()
  const { rows, series = [], isHourly } = summary
  const times = listHoursOrDays(summary, isHourly)
  const topRows = new Map(
    rows.slice(0, 5).map((row) => [getRowValue(row), { name: getRowName(names, row), values: times.map(() => 0) }]),
  )
  const otherValues = times.map(() => 0)
  for (const row of series) {
    const values = (row.others === undefined && topRows.get(getRowValue(row))?.values) || otherValues
    const index = times.indexOf(row.hour ?? row.day ?? '')
    values[index] = (values[index] ?? 0) + getMeasure(row, measure)
  }
  const parts: Part[] = [...topRows.values()]
  if (otherValues.some((value) => value > 0)) parts.push({ name: 'Other', values: otherValues })
  const formatLabel = isHourly ? (times.length > 25 ? formatMoment : formatHour) : formatDay
  return {
    title: `${measureLabels[measure]} over time`,
    labels: times.map(formatLabel),
    parts,
    format: getFormat(measure),
  }
}

/** Lists all hours or days in the summary's range, including those without requests. */
function listHoursOrDays({ from, to }: Summary, isHourly: boolean): string[] {
  const [stepMs, length] = isHourly ? [HOUR_MS, 24] : [DAY_MS, 10]
  const times: string[] = []
  for (let timeMs = Math.floor(Date.parse(from) / stepMs) * stepMs; timeMs < Date.parse(to); timeMs += stepMs)
    times.push(new Date(timeMs).toISOString().slice(0, length))
  return times
}

const getCachedShare = ({ tokens }: Totals) => tokens.cacheRead / Math.max(1, tokens.input)
const getFailedShare = ({ failed, requests }: Totals) => failed / Math.max(1, requests)

/** Shows the 95th percentile, with the other percentiles in a tooltip. */
const Times = ({ of }: { of: Totals['durationMs'] }) =>
  of ? (
    <span title={`p50: ${formatDuration(of.p50)}, p99: ${formatDuration(of.p99)}`}>{formatDuration(of.p95)}</span>
  ) : (
    <>–</>
  )

const totalColumns: Column<Totals>[] = [
  {
    name: 'Requests',
    isNumber: true,
    by: (totals) => totals.requests,
    cell: (totals) => formatNumber(totals.requests),
  },
  { name: 'Failed', isNumber: true, by: getFailedShare, cell: (totals) => formatPercent(getFailedShare(totals)) },
  {
    name: 'Tokens in',
    isNumber: true,
    by: (totals) => totals.tokens.input,
    cell: (totals) => formatCompact(totals.tokens.input),
  },
  {
    name: 'Cached',
    isNumber: true,
    by: getCachedShare,
    cell: (totals) => formatPercent(getCachedShare(totals)),
  },
  {
    name: 'Tokens out',
    isNumber: true,
    by: (totals) => totals.tokens.output,
    cell: (totals) => formatCompact(totals.tokens.output),
  },
  {
    name: 'First token (p95)',
    isNumber: true,
    by: (totals) => totals.firstByteMs?.p95 ?? 0,
    cell: (totals) => <Times of={totals.firstByteMs} />,
  },
  {
    name: 'Duration (p95)',
    isNumber: true,
    by: (totals) => totals.durationMs?.p95 ?? 0,
    cell: (totals) => <Times of={totals.durationMs} />,
  },
  { name: 'Cost', isNumber: true, by: (totals) => totals.costUsd, cell: (totals) => formatCost(totals) },
]

/** Shows savings only if the gateway has set cache breakpoints. */
const getTotalColumns = (totals: Totals): Column<Totals>[] =>
  totals.cacheSavedUsd === undefined ? totalColumns : [...totalColumns, savingsColumn]

const savingsColumn: Column<Totals> = {
  name: 'Saved by caching',
  isNumber: true,
  by: ({ cacheSavedUsd = 0 }) => cacheSavedUsd,
  cell: ({ cacheSavedUsd }) => (cacheSavedUsd === undefined ? '–' : formatMoney(cacheSavedUsd)),
}

const getColumns = (names: Names, totals: Totals): Column<Row>[] => [
  {
    name: groupings[getSelection().by],
    by: (row) => getRowName(names, row),
    cell: (row) =>
      row.others === undefined ? (
        <a
          href={buildLink('requests', '', {
            ...getRangeQuery(DEFAULT_RANGE),
            ...getSelection().filter,
            [groupFields[getSelection().by]]: getRowValue(row),
          })}
          title="View matching requests"
        >
          <Text of={getRowName(names, row)} />
        </a>
      ) : (
        getRowName(names, row)
      ),
  },
  ...getTotalColumns(totals),
]

/** Renders the export buttons. Fetches the files with the tab's token, because a link couldn't send the token. */
function Export() {
  const { run, error } = useAction(async (format: 'csv' | 'jsonl') => {
    const { by, range, filter } = getSelection()
    const query = new URLSearchParams({ ...filter, ...range, by, format })
    const response = await trackedFetch(getUrl(`api/usage?${query}`), { headers: getAuthHeaders() })
    if (!response.ok) throw new Error(await response.text())
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = `usage.${format}`
    link.click()
    URL.revokeObjectURL(link.href)
  })
  return (
    <>
      <p class="actions">
        <Button onClick={() => run('csv')}>Export CSV</Button>
        <Button onClick={() => run('jsonl')}>Export JSON Lines</Button>
      </p>
      <Problem>{error.value}</Problem>
    </>
  )
}
