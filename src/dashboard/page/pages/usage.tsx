import { useAction, useLoaded } from '../data.ts'
import { dayOf, duration, exactNumber, hourOf, money, percent, shortNumber } from '../format.ts'
import { inQuery, linkTo, route, setQuery } from '../route.ts'
import { addressOf, api, credentials, watchedFetch } from '../session.ts'
import { common, pages } from '../texts/frame.ts'
import * as texts from '../texts/usage.ts'
import { Await, Button, Problem, Text } from '../ui/basics.tsx'
import { Chart, type Part } from '../ui/chart.tsx'
import { choicesOf, SelectField } from '../ui/forms.tsx'
import { Cards } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Summary = Awaited<ReturnType<typeof api.value.usage.summary>>
type Row = Summary['rows'][number]
type Totals = Summary['totals']
type Measure = keyof typeof texts.measures

const DAY = 86_400_000

/** Who has spent what. */
export default function Usage() {
  const { state, reload } = useLoaded(load, { everyMs: 30_000 })
  return (
    <>
      <Filters names={state.value.value?.names} />
      <Await of={state.value} onRetry={reload}>
        {({ names, ...summary }) =>
          summary.totals.requests === 0 ? (
            <p class="empty">{texts.nothing}</p>
          ) : (
            <>
              <Figures totals={summary.totals} before={summary.before?.totals} />
              {summary.totals.unpriced > 0 && <p class="notice">{texts.unpriced}</p>}
              <Chart {...chartOf(summary, names)} />
              <Table
                caption={pages.usage}
                columns={columnsOf(names)}
                rows={summary.rows}
                keyOf={(row) => JSON.stringify([row.others, row.target, rowValue(row)])}
                totals={[texts.total, ...sumColumns.map(({ cell }) => cell(summary.totals))]}
              />
              <Export />
            </>
          )
        }
      </Await>
    </>
  )
}

const wanted = () => {
  const { query } = route.value
  const by = choicesOf(texts.bys).find(([one]) => one === query.get('by'))?.[0] ?? 'key'
  const measure = choicesOf(texts.measures).find(([one]) => one === query.get('show'))?.[0] ?? 'costUsd'
  const days = Number(query.get('days') ?? '1') || 1
  const filter = Object.fromEntries(
    Object.keys(texts.filters).flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  )
  return { by, measure, days, filter }
}

/** The names of keys and groups by their ids. */
type Names = ReadonlyMap<string, string>

async function load() {
  const { by, measure, days, filter } = wanted()
  const { names = {}, ...summary } = await api.value.usage.summary({
    ...filter,
    from: new Date(Date.now() - days * DAY).toISOString(),
    by,
    order: measure === 'costUsd' ? 'cost' : measure,
    top: 1_000,
    series: days <= 2 ? 'hour' : 'day',
    compare: 'before',
    names: true,
  })
  return { ...summary, names: new Map(Object.entries(names)) }
}

function Filters({ names = new Map() }: { names: Names | undefined }) {
  const { by, measure, days, filter } = wanted()
  return (
    <div class="tools">
      <SelectField label={texts.range} of={inQuery('days', String(days))} options={Object.entries(texts.ranges)} />
      <SelectField label={texts.by} of={inQuery('by', by)} options={Object.entries(texts.bys)} />
      <SelectField label={texts.measure} of={inQuery('show', measure)} options={Object.entries(texts.measures)} />
      {choicesOf(texts.filters).map(([name, title]) => {
        const value = filter[name]
        return (
          value !== undefined && (
            <Button key={name} label={common.remove(name)} onClick={() => setQuery({ [name]: '' })}>
              {title}: <Text of={names.get(value) ?? value} /> ✕
            </Button>
          )
        )
      })}
    </div>
  )
}

const fieldOf = { key: 'keyId', group: 'groupId', model: 'model', target: 'target', user: 'user' } as const

/** The value by which the row differs from the others, such as the id of a key. */
function rowValue(row: Row): string {
  const value = row[fieldOf[wanted().by]] ?? ''
  return typeof value === 'string' ? value : `${value.provider}/${value.model}`
}

const nameIn = (names: Names, row: Row) =>
  row.others === undefined ? (names.get(rowValue(row)) ?? (rowValue(row) || texts.none)) : texts.others(row.others)

const measured = ({ costUsd, requests, tokens }: Totals, measure: Measure): number => {
  if (measure === 'costUsd') return costUsd
  return measure === 'requests' ? requests : tokens.input + tokens.output
}

const formatOf = (measure: Measure) => (measure === 'costUsd' ? money : shortNumber)

/** The figures of the whole filter, against those of the time before. */
function Figures({ totals, before }: { totals: Totals; before: Totals | undefined }) {
  const { input, output, cacheRead } = totals.tokens
  const figures = [
    [texts.figureCost, costOf(totals), changeOf(totals.costUsd, before?.costUsd)],
    [texts.figureRequests, exactNumber(totals.requests), changeOf(totals.requests, before?.requests)],
    [texts.figureFailed, percent(share(totals))],
    [texts.figureTokens, `${shortNumber(input)} / ${shortNumber(output)}`],
    [texts.figureCached, percent(cacheRead / Math.max(1, input))],
    [texts.figureFirst, timeOf(totals.firstByteMs?.p50), changeOf(totals.firstByteMs?.p50, before?.firstByteMs?.p50)],
  ] as const
  return <Cards of={figures} />
}

/** A cost, and whether it is not all of it. */
const costOf = ({ costUsd, unpriced }: Totals) => `${unpriced > 0 ? '≥ ' : ''}${money(costUsd)}`

const timeOf = (ms: number | undefined) => (ms === undefined ? '–' : duration(ms))

function changeOf(now: number | undefined, before: number | undefined): string | undefined {
  if (!now || !before) return undefined
  const share = now / before - 1
  return texts.before(`${share >= 0 ? '+' : '−'}${percent(Math.abs(share))}`)
}

/** The five largest parts, and all others together. */
function chartOf(summary: Summary, names: Names) {
  const { measure, days } = wanted()
  const times = timesOf(summary, days)
  const { rows, series = [] } = summary
  const first = new Map(
    rows.slice(0, 5).map((row) => [rowValue(row), { name: nameIn(names, row), values: times.map(() => 0) }]),
  )
  const rest = times.map(() => 0)
  for (const row of series) {
    const values = (row.others === undefined && first.get(rowValue(row))?.values) || rest
    const at = times.indexOf(row.hour ?? row.day ?? '')
    values[at] = (values[at] ?? 0) + measured(row, measure)
  }
  const parts: Part[] = [...first.values()]
  if (rest.some((value) => value > 0)) parts.push({ name: texts.rest, values: rest })
  const label = (time: string) => (days <= 2 ? hourOf(time) : dayOf(time))
  return { title: texts.chart(texts.measures[measure]), labels: times.map(label), parts, format: formatOf(measure) }
}

/** All hours or days of the summary, those too in which nothing was asked. */
function timesOf({ from, to }: Summary, days: number): string[] {
  const [step, length] = days <= 2 ? [DAY / 24, 24] : [DAY, 10]
  const times: string[] = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at < Date.parse(to); at += step)
    times.push(new Date(at).toISOString().slice(0, length))
  return times
}

const share = ({ failed, requests }: Totals) => failed / Math.max(1, requests)

/** Percentiles: what 95 of a hundred do not exceed, and the others at hand. */
const Times = ({ of }: { of: Totals['durationMs'] }) =>
  of ? <span title={texts.percentiles(duration(of.p50), duration(of.p99))}>{duration(of.p95)}</span> : <>–</>

const sumColumns: Column<Totals>[] = [
  { name: texts.columnRequests, isNumber: true, by: (of) => of.requests, cell: (of) => exactNumber(of.requests) },
  { name: texts.columnFailed, isNumber: true, by: share, cell: (of) => percent(share(of)) },
  { name: texts.columnInput, isNumber: true, by: (of) => of.tokens.input, cell: (of) => shortNumber(of.tokens.input) },
  {
    name: texts.columnCached,
    isNumber: true,
    cell: ({ tokens }) => percent(tokens.cacheRead / Math.max(1, tokens.input)),
  },
  {
    name: texts.columnOutput,
    isNumber: true,
    by: (of) => of.tokens.output,
    cell: (of) => shortNumber(of.tokens.output),
  },
  {
    name: texts.columnFirst,
    isNumber: true,
    by: (of) => of.firstByteMs?.p95 ?? 0,
    cell: (of) => <Times of={of.firstByteMs} />,
  },
  {
    name: texts.columnDuration,
    isNumber: true,
    by: (of) => of.durationMs?.p95 ?? 0,
    cell: (of) => <Times of={of.durationMs} />,
  },
  { name: texts.columnCost, isNumber: true, by: (of) => of.costUsd, cell: (of) => costOf(of) },
]

const columnsOf = (names: Names): Column<Row>[] => [
  {
    name: texts.columnWhat,
    by: (row) => nameIn(names, row),
    cell: (row) =>
      row.others === undefined ? (
        <a href={linkTo('requests', '', { [fieldOf[wanted().by]]: rowValue(row) })} title={texts.requests}>
          <Text of={nameIn(names, row)} />
        </a>
      ) : (
        nameIn(names, row)
      ),
  },
  ...sumColumns,
]

/** Files of what the filter meets. They are fetched with the token of this tab, which no link could carry. */
function Export() {
  const { run, error } = useAction(async (format: 'csv' | 'jsonl') => {
    const { by, days, filter } = wanted()
    const from = new Date(Date.now() - days * DAY).toISOString()
    const query = new URLSearchParams({ ...filter, from, by, format })
    const reply = await watchedFetch(addressOf(`api/usage?${query}`), { headers: credentials() })
    if (!reply.ok) throw new Error(await reply.text())
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await reply.blob())
    link.download = `usage.${format}`
    link.click()
    URL.revokeObjectURL(link.href)
  })
  return (
    <>
      <p class="actions">
        <Button onClick={() => run('csv')}>{texts.csv}</Button>
        <Button onClick={() => run('jsonl')}>{texts.jsonl}</Button>
      </p>
      <Problem>{error.value}</Problem>
    </>
  )
}
