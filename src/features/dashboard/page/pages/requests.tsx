import { useEffect } from 'preact/hooks'
import { endLabels, getOutcomeLabel } from '../labels.ts'
import { type Signal, useData, useSignal } from '../page-data.ts'
import {
  formatClockTime,
  formatCompact,
  formatCount,
  formatDateTime,
  formatDuration,
  formatMoney,
  formatNumber,
  sanitize,
} from '../page-format.ts'
import { onEvents, type RunningRequest, runningRequests } from '../page-live.ts'
import { endKinds, type StoredRequest } from '../page-request.ts'
import { getRange, RangeFields } from '../ranges.tsx'
import { bindQuery, buildLink, route } from '../route.ts'
import { api } from '../session.ts'
import { Await, Button, State, Text } from '../ui/basics.tsx'
import { SelectField, TextField, toChoices } from '../ui/forms.tsx'
import { KeyField } from '../ui/key-field.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { RequestDetail } from './request.tsx'

const filterLabels = {
  keyId: 'Key',
  groupId: 'Group ID',
  account: 'Account',
  model: 'Requested model',
  target: 'Target (provider/model)',
  user: 'End user',
  status: 'HTTP status',
  end: 'Result',
  error: 'Error code',
} as const
const FILTER_CHOICES = toChoices(filterLabels)
const EXTRA_FILTERS: ReadonlyArray<keyof typeof filterLabels> = [
  'target',
  'status',
  'error',
  'groupId',
  'account',
  'user',
]
const MAX_ROWS = 2_000

/** Shows live and past requests. */
export default function Requests() {
  const { id } = route.value
  return id === '' ? <RequestList /> : <RequestDetail key={id} id={id} />
}

function RequestList() {
  const { state, reload } = useData(load)
  const liveRequests = useSignal<StoredRequest[]>([])
  const isLive = useSignal(true)
  useLive(liveRequests, isLive, reload)
  const olderRequests = useSignal<StoredRequest[]>([])
  const nextCursor = useSignal<string | undefined>(undefined) // empty if there are no older requests; `undefined` until the first page has loaded
  const filter = route.value.query.toString()
  const isSorted = getSort() !== NEWEST_FIRST
  useEffect(() => {
    olderRequests.value = []
    nextCursor.value = undefined
  }, [filter])

  return (
    <>
      <Filters />
      <p class="actions">
        {isSorted ? (
          <Button onClick={reload}>Refresh</Button>
        ) : (
          <button type="button" aria-pressed={isLive.value} onClick={() => (isLive.value = !isLive.value)}>
            {isLive.value ? `● Live` : `○ Paused`}
          </button>
        )}
        <span class="hint" role="status">
          {isSorted
            ? 'Live updates are off while the list is sorted. Refresh to see new requests.'
            : liveRequests.value.length > 0
              ? `${formatNumber(liveRequests.value.length)} new`
              : 'New requests appear automatically.'}
        </span>
      </p>
      <Await of={state.value} onRetry={reload}>
        {({ requests, next, missing = 0, names }) => {
          const seenIds = new Set<string>()
          const runningRows = isLive.value ? [...runningRequests.value.values()].reverse() : []
          const newerRows = isSorted ? [] : [...runningRows, ...liveRequests.value].filter(matchesFilter)
          const rows: Row[] = [...newerRows, ...requests, ...olderRequests.value].filter(
            ({ id }) => !seenIds.has(id) && seenIds.add(id),
          )
          const followingCursor = nextCursor.value === undefined ? next : nextCursor.value || undefined
          return (
            <>
              <Table
                caption="Requests"
                columns={getColumns(names)}
                rows={rows.slice(0, MAX_ROWS)}
                getKey={(request) => request.id}
                order={bindQuery('sort', getSort())}
                empty="No matching requests."
              />
              {missing > 0 && (
                <p class="hint">
                  {formatCount(missing, 'more request')} in this time range {missing === 1 ? 'has' : 'have'} no record.
                  Usage totals include {missing === 1 ? 'it' : 'them'}.
                </p>
              )}
              {followingCursor !== undefined && (
                <Button
                  onClick={async () => {
                    const page = await api.value.usage.requests({ ...getQuery(), before: followingCursor })
                    olderRequests.value = [...olderRequests.value, ...page.requests]
                    nextCursor.value = page.before ?? ''
                  }}
                >
                  Load older requests
                </Button>
              )}
            </>
          )
        }}
      </Await>
    </>
  )
}

async function load() {
  const [{ requests, before: firstCursor, missing }, { keys }] = await Promise.all([
    api.value.usage.requests(getQuery()),
    api.value.keys.list({ values: 'none' }),
  ])
  return { requests, next: firstCursor, missing, names: new Map(keys.map(({ id, name }) => [id, name])) }
}

function getFilter() {
  const { query } = route.value
  const filters = FILTER_CHOICES.flatMap(([name]) => {
    const value = query.get(name) ?? ''
    return value === '' ? [] : [[name, name === 'status' ? Number(value) : value] as const]
  })
  return Object.fromEntries(filters)
}

/** Returns the sort order in the table's format, such as `cost desc`. */
const getSort = () => route.value.query.get('sort') || NEWEST_FIRST
const NEWEST_FIRST = 'time desc'

function getQuery(): Parameters<typeof api.value.usage.requests>[0] {
  const [sort = '', order] = getSort().split(' ')
  return {
    ...getFilter(),
    ...getRange(''),
    ...(getSort() !== NEWEST_FIRST && { sort: sort === 'cost' || sort === 'duration' ? sort : 'time' }),
    ...(order === 'asc' && { order }),
  }
}

/** Returns whether a live request matches the filter. */
function matchesFilter(request: Row): boolean {
  const { from, to } = getRange('')
  const time = Date.parse(request.time)
  if (time < Date.parse(from ?? request.time) || (to !== undefined && time >= Date.parse(to))) return false
  return Object.entries(getFilter()).every(([name, value]) => {
    if (name === 'target') return request.attempts.some(({ provider, model }) => `${provider}/${model}` === value)
    return Reflect.get(request, name) === value
  })
}

/** Collects finished requests. Reloads the list if any were missed. */
function useLive(liveRequests: Signal<StoredRequest[]>, isLive: Signal<boolean>, reload: () => void): void {
  useEffect(() => {
    if (!isLive.value) return undefined
    return onEvents((events) => {
      const finishedRequests = events.flatMap(({ type, data }) => (type === 'finished' ? data : []))
      if (finishedRequests.length > 0)
        liveRequests.value = [...finishedRequests.reverse(), ...liveRequests.value].slice(0, MAX_ROWS)
      if (events.some(({ type }) => type === 'lost')) reload()
    })
  }, [isLive.value])
}

function Filters() {
  const { query } = route.value
  const renderFilter = (name: keyof typeof filterLabels) => (
    <TextField key={name} label={filterLabels[name]} of={bindQuery(name)} />
  )
  return (
    <div class="tools">
      <RangeFields fallback="" anyLabel="All time" />
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          const id = new FormData(event.currentTarget).get('id')
          if (typeof id === 'string' && id.trim() !== '') location.hash = buildLink('requests', id.trim())
        }}
      >
        <label class="field">
          Request ID
          <input name="id" type="search" autocomplete="off" />
        </label>
      </form>
      <KeyField label="Key" of={bindQuery('keyId')} />
      {renderFilter('model')}
      <SelectField label="Result" of={bindQuery('end')} options={[['', 'Any'], ...Object.entries(endLabels)]} />
      <details open={EXTRA_FILTERS.some((name) => query.has(name))}>
        <summary>More filters</summary>
        <div class="tools">{EXTRA_FILTERS.map(renderFilter)}</div>
      </details>
    </div>
  )
}

type Row =
  | StoredRequest
  | (RunningRequest & { [Name in Exclude<keyof StoredRequest, keyof RunningRequest>]?: undefined })

const formatAttempts = ({ attempts }: RunningRequest) =>
  attempts
    .map(
      ({ provider, model, status = '', outcome = '…' }) => `${provider}/${model} ${status} ${getOutcomeLabel(outcome)}`,
    )
    .join(' → ')

const getColumns = (names: ReadonlyMap<string, string>): Column<Row>[] => [
  {
    name: 'Time',
    by: 'time',
    cell: ({ id, time, end }) => (
      <a href={end && buildLink('requests', id)} title={`${formatDateTime(time)} ${id}`}>
        {formatClockTime(time)}
      </a>
    ),
  },
  {
    name: 'Key',
    cell: ({ keyId }) => (keyId === undefined ? 'No key' : (names.get(keyId) ?? keyId)),
  },
  { name: 'Requested model', cell: ({ model }) => model },
  {
    name: 'Served by',
    cell: (row) => (row.end ? row.target && `${row.target.provider}/${row.target.model}` : formatAttempts(row)),
  },
  { name: 'Status', isNumber: true, cell: ({ status }) => status },
  {
    name: 'Result',
    cell: ({ end, error, reason, firstByteMs }) =>
      !end ? (
        <span>
          <State kind="warn">In progress</State>{' '}
          {firstByteMs !== undefined && `Time to first token ${formatDuration(firstByteMs)}`}
        </span>
      ) : (
        <span title={reason === undefined ? '' : sanitize(reason)}>
          <State kind={endKinds[end]}>{endLabels[end]}</State> <Text of={error?.toLowerCase()} />
        </span>
      ),
  },
  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  {
    name: 'Duration',
    isNumber: true,
    by: 'duration',
    cell: ({ durationMs }) => durationMs !== undefined && formatDuration(durationMs),
  },
  {
    name: 'Tokens',
    isNumber: true,
    cell: ({ tokens }) => (tokens ? `${formatCompact(tokens.input)} → ${formatCompact(tokens.output)}` : ''),
  },
  {
    name: 'Cost',
    isNumber: true,
    by: 'cost',
    cell: ({ costUsd }) => (costUsd === undefined ? '' : formatMoney(costUsd)),
  },
]
