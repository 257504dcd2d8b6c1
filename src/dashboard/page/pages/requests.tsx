import { useEffect } from 'preact/hooks'
import { type Signal, useLoaded, useSignal } from '../data.ts'
import { clockTime, duration, exactTime, money, shortNumber, shown } from '../format.ts'
import { endKinds, type KeptRequest } from '../kept-request.ts'
import { onEvents, type RunningRequest, running } from '../live.ts'
import { inQuery, linkTo, route } from '../route.ts'
import { api } from '../session.ts'
import { pages } from '../texts/frame.ts'
import * as texts from '../texts/requests.ts'
import { Await, Button, State, Text } from '../ui/basics.tsx'
import { SelectField, TextField } from '../ui/forms.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { OneRequest } from './request.tsx'

const FILTERS = ['keyId', 'groupId', 'model', 'target', 'user', 'status', 'end', 'error'] as const
/** The filters that few need. */
const MORE = ['target', 'status', 'error', 'groupId', 'user'] as const
/** More rows are not held: older ones are a page away. */
const MOST_ROWS = 2_000

/** Requests as they come, and as they were. */
export default function Requests() {
  const { id } = route.value
  return id === '' ? <RequestList /> : <OneRequest id={id} />
}

function RequestList() {
  const { state, reload } = useLoaded(load)
  const fresh = useSignal<KeptRequest[]>([])
  const isLive = useSignal(true)
  useLive(fresh, isLive, reload)
  const older = useSignal<KeptRequest[]>([])
  const before = useSignal<string | undefined>(undefined) // empty: there are no older ones
  const filter = route.value.query.toString()
  useEffect(() => {
    older.value = []
    before.value = undefined
  }, [filter])

  return (
    <>
      <Filters />
      <p class="actions">
        <button type="button" aria-pressed={isLive.value} onClick={() => (isLive.value = !isLive.value)}>
          {isLive.value ? `● ${texts.live}` : `○ ${texts.paused}`}
        </button>
        <span class="hint" role="status">
          {fresh.value.length > 0 ? texts.fresh(fresh.value.length) : texts.liveHint}
        </span>
      </p>
      <Await of={state.value} onRetry={reload}>
        {({ requests, next, names }) => {
          const seen = new Set<string>()
          const now = isLive.value ? [...running.value.values()].reverse() : []
          const rows: Row[] = [...[...now, ...fresh.value].filter(meets), ...requests, ...older.value].filter(
            ({ id }) => !seen.has(id) && seen.add(id),
          )
          const following = before.value === undefined ? next : before.value || undefined
          return (
            <>
              <Table
                caption={pages.requests}
                columns={columnsOf(names)}
                rows={rows.slice(0, MOST_ROWS)}
                keyOf={(request) => request.id}
                empty={texts.nothing}
              />
              {following !== undefined && (
                <Button
                  onClick={async () => {
                    const page = await api.value.usage.requests({ ...filterOf(), before: following })
                    older.value = [...older.value, ...page.requests]
                    before.value = page.before ?? ''
                  }}
                >
                  {texts.older}
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
  const [{ requests, before: next }, { keys }] = await Promise.all([
    api.value.usage.requests(filterOf()),
    api.value.keys.list({ values: 'none' }),
  ])
  return { requests, next, names: new Map(keys.map(({ id, name }) => [id, name])) }
}

function filterOf() {
  const { query } = route.value
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name) ?? ''
    return value === '' ? [] : [[name, name === 'status' ? Number(value) : value] as const]
  })
  return Object.fromEntries(given)
}

/** Does a request that runs or has just ended meet the filter? */
function meets(request: Row): boolean {
  return Object.entries(filterOf()).every(([name, value]) => {
    if (name === 'target') return request.attempts.some(({ provider, model }) => `${provider}/${model}` === value)
    return Reflect.get(request, name) === value
  })
}

/** Collects requests that end, and lists anew where some were missed. */
function useLive(fresh: Signal<KeptRequest[]>, isLive: Signal<boolean>, reload: () => void): void {
  useEffect(() => {
    if (!isLive.value) return undefined
    return onEvents((events) => {
      const ended = events.flatMap(({ type, data }) => (type === 'finished' ? data : []))
      if (ended.length > 0) fresh.value = [...ended.reverse(), ...fresh.value].slice(0, MOST_ROWS)
      if (events.some(({ type }) => type === 'lost')) reload()
    })
  }, [isLive.value])
}

function Filters() {
  const { query } = route.value
  const text = (name: (typeof FILTERS)[number]) => (
    <TextField key={name} label={texts.filters[name]} of={inQuery(name)} />
  )
  return (
    <div class="tools">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          const id = new FormData(event.currentTarget).get('id')
          if (typeof id === 'string' && id.trim() !== '') location.hash = linkTo('requests', id.trim())
        }}
      >
        <label class="field">
          {texts.filters.id}
          <input name="id" type="search" autocomplete="off" />
        </label>
      </form>
      {text('keyId')}
      {text('model')}
      <SelectField
        label={texts.filters.end}
        of={inQuery('end')}
        options={[['', texts.any], ...Object.entries(texts.ends)]}
      />
      <details open={MORE.some((name) => query.has(name))}>
        <summary>{texts.filters.more}</summary>
        <div class="tools">{MORE.map(text)}</div>
      </details>
    </div>
  )
}

/** A request that is over, or one that runs, which has no end yet. */
type Row = KeptRequest | (RunningRequest & { [Name in Exclude<keyof KeptRequest, keyof RunningRequest>]?: undefined })

/** The attempts of a request that runs, one after the other. */
const courseOf = ({ attempts }: RunningRequest) =>
  attempts
    .map(({ provider, model, status = '', outcome = '…' }) => `${provider}/${model} ${status} ${outcome}`)
    .join(' → ')

const columnsOf = (names: ReadonlyMap<string, string>): Column<Row>[] => [
  {
    name: texts.columnTime,
    cell: ({ id, time, end }) => (
      <a href={end && linkTo('requests', id)} title={`${exactTime(time)} ${id}`}>
        {clockTime(time)}
      </a>
    ),
  },
  {
    name: texts.columnKey,
    cell: ({ keyId }) => (keyId === undefined ? texts.noKey : (names.get(keyId) ?? keyId)),
  },
  { name: texts.columnAsked, cell: ({ model }) => model },
  {
    name: texts.columnTarget,
    cell: (row) => (row.end ? row.target && `${row.target.provider}/${row.target.model}` : courseOf(row)),
  },
  { name: texts.columnStatus, isNumber: true, cell: ({ status }) => status },
  {
    name: texts.columnEnd,
    cell: ({ end, error, reason, firstByteMs }) =>
      !end ? (
        <span>
          <State kind="warn">{texts.running}</State>{' '}
          {firstByteMs !== undefined && `${texts.firstByte} ${duration(firstByteMs)}`}
        </span>
      ) : (
        <span title={reason === undefined ? '' : shown(reason)}>
          <State kind={endKinds[end]}>{texts.ends[end]}</State> <Text of={error?.toLowerCase()} />
        </span>
      ),
  },
  { name: texts.columnAttempts, isNumber: true, cell: ({ attempts }) => attempts.length },
  {
    name: texts.columnDuration,
    isNumber: true,
    by: ({ durationMs = 0 }) => durationMs,
    cell: ({ durationMs }) => durationMs !== undefined && duration(durationMs),
  },
  {
    name: texts.columnTokens,
    isNumber: true,
    cell: ({ tokens }) => (tokens ? `${shortNumber(tokens.input)} → ${shortNumber(tokens.output)}` : ''),
  },
  {
    name: texts.columnCost,
    isNumber: true,
    by: ({ costUsd = 0 }) => costUsd,
    cell: ({ costUsd }) => (costUsd === undefined ? '' : money(costUsd)),
  },
]
