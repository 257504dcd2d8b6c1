import { bindQuery, route, setQuery } from './route.ts'
import { bindValue, type Choice, SelectField, TextField } from './ui/forms.tsx'

const DAY_MS = 86_400_000

/** A time range. `to` is exclusive. Without `from` or `to`, the range is open on that side. */
export interface Range {
  from?: string
  to?: string
}

/** The query parameters that define a range. */
export const RANGE_PARAMS = ['days', 'from', 'to'] as const

/** Formats a time as a UTC day. Days and months are in UTC, as in limits and exports. */
const toUtcDay = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Returns the first day of the month `months` after the current one. -1 is the previous month. */
function getUtcMonth(now: number, months: number): string {
  const date = new Date(now)
  return toUtcDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months))
}

/** Returns the range in the URL or, if there is none, `fallback`. */
export function getRange(fallback: string, now = Date.now()): Range {
  const { query } = route.value
  const days = query.get('days') ?? fallback
  switch (days) {
    case '':
      return {}
    case 'today':
      return { from: toUtcDay(now) }
    case 'yesterday':
      return { from: toUtcDay(now - DAY_MS), to: toUtcDay(now) }
    case 'month':
      return { from: getUtcMonth(now, 0) }
    case 'last-month':
      return { from: getUtcMonth(now, -1), to: getUtcMonth(now, 0) }
    case 'custom':
      return { ...parseDay('from', query.get('from')), ...parseDay('to', query.get('to'), DAY_MS) }
    default:
      return { from: new Date(now - (Number(days) || 1) * DAY_MS).toISOString() }
  }
}

function parseDay(name: keyof Range, text: string | null, offsetDays = 0): Range {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? {} : { [name]: new Date(time + offsetDays).toISOString() }
}

/** Returns the range's query parameters, for links to other views. */
export function getRangeQuery(fallback: string): Record<string, string> {
  const { query } = route.value
  return Object.fromEntries(RANGE_PARAMS.map((name) => [name, query.get(name) ?? (name === 'days' ? fallback : '')]))
}

const RANGE_CHOICES: readonly Choice<string>[] = [
  ['1', 'Last 24 hours'],
  ['today', 'Today (UTC)'],
  ['yesterday', 'Yesterday (UTC)'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['month', 'This month (UTC)'],
  ['last-month', 'Last month (UTC)'],
  ['custom', 'Custom range'],
]

/** Renders the fields for a range. `anyLabel` is the label of the option that selects all times. Omit it to leave that option out. */
export function RangeFields({ fallback, anyLabel }: { fallback: string; anyLabel?: string }) {
  const days = route.value.query.get('days') ?? fallback
  const choices: Choice<string>[] = [...(anyLabel === undefined ? [] : [['', anyLabel] as const]), ...RANGE_CHOICES]
  return (
    <>
      <SelectField
        label="Time range"
        of={bindValue(days, (selectedDays) => {
          const { from = '', to } = getRange(fallback)
          const lastDay = toUtcDay(to === undefined ? Date.now() : Date.parse(to) - 1)
          // A custom range starts with the dates of the current range.
          const customRange =
            selectedDays === 'custom' ? { from: from.slice(0, 10) || lastDay, to: lastDay } : { from: '', to: '' }
          setQuery({ days: selectedDays, ...customRange })
        })}
        options={choices}
      />
      {days === 'custom' && (
        <>
          <TextField label="From (UTC)" type="date" of={bindQuery('from')} />
          <TextField label="To (UTC, inclusive)" type="date" of={bindQuery('to')} />
        </>
      )}
    </>
  )
}
