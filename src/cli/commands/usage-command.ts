import type { Client } from '../../client/client.ts'
import {
  addNames,
  formatCsvHeader,
  formatCsvLines,
  listCsvColumns,
  readNames,
} from '../../features/usage/operations/usage-export.ts'
import type { SummaryRow, UsageTotals } from '../../features/usage/operations/usage-operations.ts'
import type { KeptEnd, KeptRequest, KeptTarget } from '../../features/usage/request-record.ts'
import { usage as wrongUsage } from '../command-line.ts'
import { type ActionCall, type CliCommand, idOf, printed } from './command.ts'
import { type Field, flag, number, text } from './field-options.ts'
import { type Column, table } from './text-table.ts'

/** An option for a time: one that the gateway accepts, the name of a day, or how long ago it was, such as `7d`. */
const time = (name: string, { member, example, help }: { member: string; example: string; help: string }): Field => ({
  ...text(member, example, help),
  isAlias: name !== member,
  read(given) {
    const value = given.trim().toLowerCase()
    if (value === 'now') return new Date().toISOString()
    const [, amount, unit = ''] = /^(\d{1,6}) ?([mhdw])(?: ago)?$/.exec(value) ?? []
    if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNITS_MS[unit] ?? 0)).toISOString()
    if (/^\d{4}-/.test(value)) return given // checked by the gateway
    if (!Object.hasOwn(DAYS_AGO, value))
      throw wrongUsage(
        `--${name} "${given}" is not a valid time. Use an age (30m, 24h, 7d, 2w), today, yesterday, or a date such as 2027-01-31.`,
      )
    const midnight = new Date()
    midnight.setUTCHours(0, 0, 0, 0)
    return new Date(midnight.getTime() - (DAYS_AGO[value] ?? 0) * DAY_MS).toISOString()
  },
})

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }
const DAYS_AGO: Readonly<Record<string, number>> = { today: 0, yesterday: 1 }

const filters = {
  from: time('from', {
    member: 'from',
    example: '7d',
    help: 'Start: an age (30m, 24h, 7d, 2w), "today", "yesterday", or an ISO 8601 date or time, in UTC',
  }),
  to: time('to', {
    member: 'to',
    example: 'today',
    help: 'End of the range (exclusive), in the same formats (default: now)',
  }),
  since: time('since', { member: 'from', example: '7d', help: 'Same as --from' }),
  until: time('until', { member: 'to', example: 'today', help: 'Same as --to' }),
  key: text('keyId', '<key>', 'Only this API key, by ID or name'),
  group: text('groupId', '<group>', 'Only this group, by ID or name'),
  model: text('model', 'openai/gpt-4o', 'Only requests for this model name'),
  target: text('target', 'openai/gpt-4o', 'Only requests sent to this provider and model'),
  provider: text('provider', 'openai', 'Only requests sent to this provider'),
  connection: text('connectionId', '<id>', 'Only requests sent through this connection, by ID or name'),
  user: text('user', '<id>', 'Only this end user'),
}

/** How a request ended. */
const ENDS = ['complete', 'aborted', 'cut', 'failed', 'refused'] satisfies readonly KeptEnd[]

const csv = flag('csv', true, 'Print CSV')

const keysOf = async (api: Client<unknown>) => (await api.keys.list()).keys
const groupsOf = async (api: Client<unknown>) => (await api.groups.list()).groups

/** The query for the gateway, in which keys and groups are known by their ids. */
async function queryOf({ api, input }: ActionCall): Promise<Readonly<Record<string, unknown>>> {
  const { csv: _, keyId, groupId, connectionId, ...query } = input
  return {
    ...query,
    ...(typeof keyId === 'string' && { keyId: keyId && (await idOf(keyId, 'key', () => keysOf(api))) }),
    ...(typeof groupId === 'string' && { groupId: groupId && (await idOf(groupId, 'group', () => groupsOf(api))) }),
    ...(typeof connectionId === 'string' && { connectionId: await findConnectionId(api, connectionId) }),
  }
}

/** Finds the id of the connection with this name; otherwise returns it unchanged, because a deleted connection has usage, too. */
async function findConnectionId(api: Client<unknown>, given: string): Promise<string> {
  const { connections } = await api.connections.list()
  const named = connections.filter(({ name }) => name === given)
  const isId = given === '' || connections.some(({ id }) => id === given)
  return isId || named.length === 0 ? given : idOf(given, 'connection', async () => connections)
}

/** The names of keys and groups by id, where rows have ids. */
const namesOf = (api: Client<unknown>, list: ReadonlyArray<{ keyId?: string; groupId?: string }>) =>
  readNames(list, { keys: () => api.keys.list(), groups: () => api.groups.list() })

const targetName = (target: KeptTarget | undefined) => target && `${target.provider}/${target.model}`

const dollars = (usd: number) => `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 1 ? 6 : 2)}`

const sumColumns: ReadonlyArray<Column<UsageTotals>> = [
  ['REQUESTS', ({ requests }) => String(requests)],
  ['FAILED', ({ failed }) => String(failed)],
  ['REJECTED', ({ refused }) => String(refused)],
  ['INPUT', ({ tokens }) => String(tokens.input)],
  ['CACHED', ({ tokens }) => String(tokens.cacheRead)],
  ['OUTPUT', ({ tokens }) => String(tokens.output)],
  ['COST', ({ costUsd }) => dollars(costUsd)],
  ['TTFT P95', ({ firstByteMs }) => firstByteMs && `${firstByteMs.p95} ms`],
  ['P95', ({ durationMs }) => durationMs && `${durationMs.p95} ms`],
  ['UNPRICED', ({ unpriced }) => (unpriced > 0 ? String(unpriced) : undefined)],
]

const rowColumns = (names: ReadonlyMap<string, string>): ReadonlyArray<Column<SummaryRow>> => [
  ['MONTH', ({ month }) => month],
  ['DAY', ({ day }) => day],
  ['HOUR', ({ hour }) => hour?.slice(0, 16)],
  ['KEY', ({ keyId }) => keyId && (names.get(keyId) ?? keyId)],
  ['GROUP', ({ groupId }) => groupId && (names.get(groupId) ?? groupId)],
  ['MODEL', ({ model }) => model],
  ['TARGET', ({ target }) => targetName(target)],
  ['CONNECTION', ({ target }) => target?.connectionId],
  ['USER', ({ user }) => user],
  ['OTHERS', ({ others }) => (others === undefined ? undefined : `${others} more`)],
  ...sumColumns,
]

const requestColumns = (names: ReadonlyMap<string, string>): ReadonlyArray<Column<KeptRequest>> => [
  ['TIME', ({ time: at }) => at],
  ['KEY', ({ keyId }) => keyId && (names.get(keyId) ?? keyId)],
  ['MODEL', ({ model }) => model],
  ['TARGET', ({ target }) => targetName(target)],
  ['STATUS', ({ status }) => String(status)],
  ['END', ({ end }) => end],
  ['TOKENS', ({ attempts, tokens }) => (attempts.length > 0 ? `${tokens.input}+${tokens.output}` : undefined)],
  ['COST', ({ attempts, costUsd }) => (attempts.length > 0 && costUsd !== undefined ? dollars(costUsd) : undefined)],
  ['ERROR', ({ error }) => error],
  ['REASON', ({ reason }) => reason],
  ['ID', ({ id }) => id],
]

const total = (what: string, { requests, tokens, costUsd, unpriced }: UsageTotals): string =>
  `${what}: ${requests} requests, ${tokens.input} input tokens, ${tokens.output} output tokens, ${dollars(costUsd)}${
    unpriced > 0 ? `, plus ${unpriced} calls without a known price` : ''
  }\n`

export const usage = {
  help: 'Show requests, tokens, and costs',
  notes:
    'Times are in UTC.\nExamples:\n  signalbox usage --from 7d\n  signalbox usage --from yesterday --to today --by key,model',
  actions: {
    summary: {
      help: 'Summarize usage in the last 24 hours, or in the given range',
      fields: {
        by: text('by', 'key,day', 'Group by key, group, model, target, user, hour, day, or month (default: key)'),
        order: text('order', 'requests', 'Sort by cost (default), requests, or tokens'),
        top: number('top', 'top', 'Maximum number of rows, 1 to 1000; the rest are summed in a last row'),
        compare: text('compare', 'before', 'Use "before" to also show the preceding period of the same length'),
        ...filters,
        csv,
      },
      async run(call) {
        const body = await call.api.usage.summary(await queryOf(call))
        const { rows, totals, before, warnings } = body
        const said = { body, ...(warnings && { warnings }) }
        const names = await namesOf(call.api, rows)
        if (call.input.csv) return { ...said, text: formatCsv('rows', rows, names) }
        const text =
          rows.length > 0 ? table(rowColumns(names), rows) + total('Total', totals) : 'No usage in this period.\n'
        return { ...said, text: before ? text + total('Preceding period', before.totals) : text }
      },
    },
    requests: {
      help: 'List the latest requests, including rejected ones',
      fields: {
        ...filters,
        status: number('status', 'status', 'Only this HTTP status'),
        end: text('end', 'refused', `Only this outcome: ${ENDS.join(', ')}`),
        error: text('error', 'KEY_PAUSED', 'Only this Signalbox error code'),
        endpoint: text('endpoint', '/v1/messages', 'Only this endpoint'),
        sort: text('sort', 'cost', 'Sort by time (default), duration, or cost'),
        order: text('order', 'asc', 'Sort order: desc (default) or asc'),
        limit: number('limit', 'limit', 'Maximum number of requests, 1 to 1000 (default: 100)'),
        before: text('before', '<id>', 'Continue below the request with this ID'),
        csv,
      },
      async run(call) {
        const body = await call.api.usage.requests(await queryOf(call))
        const { requests, before, missing, warnings = [] } = body
        const told = missing === undefined ? warnings : [...warnings, missingText(missing)]
        const said = { body, ...(told.length > 0 && { warnings: told }) }
        if (call.input.csv) return { ...said, text: formatCsv('requests', requests, await namesOf(call.api, requests)) }
        if (requests.length === 0) return { ...said, text: 'No matching requests.\n' }
        const more = before === undefined ? '' : `More: --before ${before}\n`
        return { ...said, text: table(requestColumns(await namesOf(call.api, requests)), requests) + more }
      },
    },
    request: {
      help: 'Show a request and its attempts; <id> is in the x-signalbox-request-id header',
      words: ['<id>'],
      async run({ api, words: [id = ''] }) {
        const body = await api.usage.request(id)
        return printed(body, { ...body.request, warnings: body.request.warnings?.join(', ') })
      },
    },
  },
} satisfies CliCommand

const missingText = (missing: number) =>
  `${missing} more requests in this period are included in the totals but have no record, because the storage was slow or unavailable.`

/** Formats the list as CSV, with the names of keys and groups next to their ids. */
function formatCsv(
  what: 'rows' | 'requests',
  list: ReadonlyArray<{ keyId?: string; groupId?: string }>,
  names: ReadonlyMap<string, string>,
): string {
  const columns = listCsvColumns(what, list)
  return formatCsvHeader(columns) + formatCsvLines(addNames(list, names), columns)
}
