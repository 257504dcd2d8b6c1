import { useAction, useLoaded } from '../data.ts'
import { dayOf, exactNumber, hourOf, money, percent, shortNumber } from '../format.ts'
import { inQuery, linkTo, route, setQuery } from '../route.ts'
import { addressOf, api, credentials, watchedFetch } from '../session.ts'
import { common, pages } from '../texts/frame.ts'
import * as texts from '../texts/usage.ts'
import { Await, Button, Cards, Problem, SelectField, Text } from '../ui/basics.tsx'
import { Chart, type Part } from '../ui/chart.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Summary = Awaited<ReturnType<typeof api.value.usage.summary>>
type Row = Summary['rows'][number]
type Totals = Summary['totals']
type By = keyof typeof texts.bys
type Measure = keyof typeof texts.measures

const DAY = 86_400_000

/** Who has spent what. */
export default function Usage() {
  const { state, reload } = useLoaded(load, { everyMs: 30_000 })
  return (
    <>
      <Filters names={state.value.value?.names} />
      <Await of={state.value} onRetry={reload}>
        {({ rows, series, before, names }) =>
          rows.totals.requests === 0 ? (
            <p class="empty">{texts.nothing}</p>
          ) : (
            <>
              <Figures totals={rows.totals} before={before.totals} />
              {rows.totals.unpriced > 0 && <p class="notice">{texts.unpriced}</p>}
              <Chart {...chartOf(series, names)} />
              <Table
                caption={pages.usage}
                columns={columnsOf(names)}
                rows={rows.rows}
                keyOf={(row) => rowValue(row)}
                totals={totalCells(rows.totals)}
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
  const by = (Object.keys(texts.bys) as By[]).find((one) => one === query.get('by')) ?? 'key'
  const measure = (Object.keys(texts.measures) as Measure[]).find((one) => one === query.get('show')) ?? 'costUsd'
  const days = Number(query.get('days') ?? '1') || 1
  const filter = Object.fromEntries(
    Object.keys(texts.filters).flatMap((name) => (query.has(name) ? [[name, query.get(name) ?? '']] : [])),
  )
  return { by, measure, days, filter }
}

/** The names of keys and groups by their ids. */
type Names = ReadonlyMap<string, string>

async function load() {
  const { by, days, filter } = wanted()
  const unit = days <= 2 ? 'hour' : 'day'
  const to = new Date()
  const from = new Date(to.getTime() - days * DAY)
  const { summary } = api.value.usage
  const period = { ...filter, from: from.toISOString(), to: to.toISOString() }
  const [rows, series, before, { keys }, { groups }] = await Promise.all([
    summary({ ...period, by }),
    summary({ ...period, by: [by, unit] }),
    summary({ ...filter, from: new Date(from.getTime() - days * DAY).toISOString(), to: from.toISOString(), by }),
    api.value.keys.list({ values: 'none', limit: 1_000 }),
    api.value.groups.list(),
  ])
  const names: Names = new Map([...keys, ...groups].map(({ id, name }) => [id, name]))
  return { rows, series, before, names }
}

function Filters({ names = new Map() }: { names: Names | undefined }) {
  const { by, measure, days, filter } = wanted()
  return (
    <div class="tools">
      <SelectField label={texts.range} of={inQuery('days', String(days))} options={Object.entries(texts.ranges)} />
      <SelectField label={texts.by} of={inQuery('by', by)} options={Object.entries(texts.bys)} />
      <SelectField label={texts.measure} of={inQuery('show', measure)} options={Object.entries(texts.measures)} />
      {Object.entries(filter).map(([name, value]) => (
        <Button key={name} label={common.remove(name)} onClick={() => setQuery({ [name]: '' })}>
          {texts.filters[name as keyof typeof texts.filters]}: <Text of={names.get(value) ?? value} /> ✕
        </Button>
      ))}
    </div>
  )
}

const fieldOf = { key: 'keyId', group: 'groupId', model: 'model', target: 'target', user: 'user' } as const

/** The value by which the row differs from the others, such as the id of a key. */
function rowValue(row: Row): string {
  const value = row[fieldOf[wanted().by]] ?? ''
  return typeof value === 'string' ? value : `${value.provider}/${value.model}`
}

const nameIn = (names: Names, value: string) => (value === '' ? texts.none : (names.get(value) ?? value))

const measured = ({ costUsd, requests, tokens }: Totals, measure: Measure): number => {
  if (measure === 'costUsd') return costUsd
  return measure === 'requests' ? requests : tokens.input + tokens.output
}

const formatOf = (measure: Measure) => (measure === 'costUsd' ? money : shortNumber)

/** The figures of the whole filter, against those of the time before. */
function Figures({ totals, before }: { totals: Totals; before: Totals }) {
  const { input, output, cacheRead } = totals.tokens
  const figures = [
    [texts.figureCost, costOf(totals), changeOf(totals.costUsd, before.costUsd)],
    [texts.figureRequests, exactNumber(totals.requests), changeOf(totals.requests, before.requests)],
    [texts.figureFailed, percent(totals.failed / Math.max(1, totals.requests))],
    [texts.figureTokens, `${shortNumber(input)} / ${shortNumber(output)}`],
    [texts.figureCached, percent(cacheRead / Math.max(1, input))],
  ] as const
  return <Cards of={figures} />
}

/** A cost, and whether it is not all of it. */
const costOf = ({ costUsd, unpriced }: Totals) => `${unpriced > 0 ? '≥ ' : ''}${money(costUsd)}`

function changeOf(now: number, before: number): string | undefined {
  if (!now || !before) return undefined
  const share = now / before - 1
  return texts.before(`${share >= 0 ? '+' : '−'}${percent(Math.abs(share))}`)
}

/** The five largest parts, and all others together. */
function chartOf(series: Summary, names: Names) {
  const { measure, days } = wanted()
  const times = timesOf(series, days)
  const sums = new Map<string, Map<string, number>>()
  for (const row of series.rows) {
    const time = row.hour ?? row.day ?? ''
    const own = sums.get(rowValue(row)) ?? new Map<string, number>()
    own.set(time, (own.get(time) ?? 0) + measured(row, measure))
    sums.set(rowValue(row), own)
  }
  const total = (own: Map<string, number>) => [...own.values()].reduce((sum, one) => sum + one, 0)
  const ordered = [...sums].sort(([, one], [, other]) => total(other) - total(one))
  const valuesOf = (owns: ReadonlyArray<Map<string, number>>) =>
    times.map((time) => owns.reduce((sum, own) => sum + (own.get(time) ?? 0), 0))
  const parts: Part[] = ordered
    .slice(0, 5)
    .map(([value, own]) => ({ name: nameIn(names, value), values: valuesOf([own]) }))
  if (ordered.length > 5) parts.push({ name: texts.others, values: valuesOf(ordered.slice(5).map(([, own]) => own)) })
  const label = (time: string) => (days <= 2 ? hourOf(time) : dayOf(time))
  return { title: texts.chart(texts.measures[measure]), labels: times.map(label), parts, format: formatOf(measure) }
}

/** All hours or days of the summary, those too in which nothing was asked. */
function timesOf({ from, to, rows }: Summary, days: number): string[] {
  const step = days <= 2 ? DAY / 24 : DAY
  const sample = rows.find(({ hour, day }) => hour ?? day)
  const isDay = sample?.day !== undefined
  const times: string[] = []
  for (let at = Math.floor(Date.parse(from) / step) * step; at < Date.parse(to); at += step) {
    const time = new Date(at).toISOString()
    times.push(isDay ? time.slice(0, sample.day?.length ?? 10) : time)
  }
  return times
}

function columnsOf(names: Names): Column<Row>[] {
  const { by } = wanted()
  const share = (row: Row) => row.failed / Math.max(1, row.requests)
  return [
    {
      name: texts.columnWhat,
      by: (row) => nameIn(names, rowValue(row)),
      cell: (row) => (
        <a href={linkTo('requests', '', { [fieldOf[by]]: rowValue(row) })} title={texts.requests}>
          <Text of={nameIn(names, rowValue(row))} />
        </a>
      ),
    },
    {
      name: texts.columnRequests,
      isNumber: true,
      by: (row) => row.requests,
      cell: (row) => exactNumber(row.requests),
    },
    { name: texts.columnFailed, isNumber: true, by: share, cell: (row) => percent(share(row)) },
    {
      name: texts.columnInput,
      isNumber: true,
      by: (row) => row.tokens.input,
      cell: (row) => shortNumber(row.tokens.input),
    },
    {
      name: texts.columnCached,
      isNumber: true,
      cell: ({ tokens }) => percent(tokens.cacheRead / Math.max(1, tokens.input)),
    },
    {
      name: texts.columnOutput,
      isNumber: true,
      by: (row) => row.tokens.output,
      cell: (row) => shortNumber(row.tokens.output),
    },
    { name: texts.columnCost, isNumber: true, by: (row) => row.costUsd, cell: costOf },
  ]
}

const totalCells = (totals: Totals) => [
  texts.total,
  exactNumber(totals.requests),
  percent(totals.failed / Math.max(1, totals.requests)),
  shortNumber(totals.tokens.input),
  percent(totals.tokens.cacheRead / Math.max(1, totals.tokens.input)),
  shortNumber(totals.tokens.output),
  costOf(totals),
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
