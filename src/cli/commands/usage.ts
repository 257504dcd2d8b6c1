import type { Client } from '../../client/client.ts'
import type { SummaryRow, UsageTotals } from '../../management/usage.ts'
import { csvColumns, csvHead, csvLines } from '../../management/usage-export.ts'
import type { KeptRequest, KeptTarget } from '../../usage/kept/record.ts'
import { type ActionCall, type CliCommand, idOf, printed } from './command.ts'
import { type Field, flag, number, text } from './fields.ts'
import { type Column, table } from './text-table.ts'

/** A time as the gateway takes it, or a day by its name. */
const time = (name: string, help: string): Field => ({
  ...text(name, 'yesterday', help),
  read(value) {
    if (!Object.hasOwn(DAYS_AGO, value)) return value
    const midnight = new Date()
    midnight.setUTCHours(0, 0, 0, 0)
    return new Date(midnight.getTime() - (DAYS_AGO[value] ?? 0) * DAY_MS).toISOString()
  },
})

const DAY_MS = 24 * 60 * 60 * 1_000
const DAYS_AGO: Readonly<Record<string, number>> = { today: 0, yesterday: 1 }

const filters = {
  from: time('from', 'The beginning: a day or a time in ISO 8601, "today" or "yesterday", in UTC'),
  to: time('to', 'The end, which is not meant any more'),
  key: text('keyId', '<key>', 'Only those of one API key, by its id or name'),
  group: text('groupId', '<group>', 'Only those of one group, by its id or name'),
  model: text('model', 'openai/gpt-4o', 'Only requests for this model name'),
  target: text('target', 'openai/gpt-4o', 'Only those for which this provider and model were called'),
  provider: text('provider', 'openai', 'Only those for which this provider was called'),
  connection: text('connectionId', '<id>', 'Only those for which this connection was called'),
  user: text('user', '<id>', 'Only those of one end user'),
}

const csv = flag('csv', true, 'Prints comma-separated values')

const keysOf = async (api: Client<unknown>) => (await api.keys.list()).keys
const groupsOf = async (api: Client<unknown>) => (await api.groups.list()).groups

/** The query for the gateway, in which keys and groups are known by their ids. */
async function queryOf({ api, input }: ActionCall): Promise<Readonly<Record<string, unknown>>> {
  const { csv: _, keyId, groupId, ...query } = input
  return {
    ...query,
    ...(typeof keyId === 'string' && { keyId: keyId && (await idOf(keyId, 'key', () => keysOf(api))) }),
    ...(typeof groupId === 'string' && { groupId: groupId && (await idOf(groupId, 'group', () => groupsOf(api))) }),
  }
}

/** The names of keys and groups by id, where rows have ids. */
async function namesOf(
  api: Client<unknown>,
  list: ReadonlyArray<{ keyId?: string; groupId?: string }>,
): Promise<ReadonlyMap<string, string>> {
  const keys = list.some(({ keyId }) => keyId) ? await keysOf(api) : []
  const groups = list.some(({ groupId }) => groupId) ? await groupsOf(api) : []
  return new Map([...keys, ...groups].map(({ id, name }) => [id, name]))
}

const targetName = (target: KeptTarget | undefined) => target && `${target.provider}/${target.model}`

const dollars = (usd: number) => `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 1 ? 6 : 2)}`

const sumColumns: ReadonlyArray<Column<UsageTotals>> = [
  ['REQUESTS', ({ requests }) => String(requests)],
  ['FAILED', ({ failed }) => String(failed)],
  ['REFUSED', ({ refused }) => String(refused)],
  ['INPUT', ({ tokens }) => String(tokens.input)],
  ['CACHED', ({ tokens }) => String(tokens.cacheRead)],
  ['OUTPUT', ({ tokens }) => String(tokens.output)],
  ['COST', ({ costUsd }) => dollars(costUsd)],
  ['FIRST P95', ({ firstByteMs }) => firstByteMs && `${firstByteMs.p95} ms`],
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
  ['WHY', ({ reason }) => reason],
  ['ID', ({ id }) => id],
]

const total = (what: string, { requests, tokens, costUsd, unpriced }: UsageTotals): string =>
  `${what}: ${requests} requests, ${tokens.input} tokens of input and ${tokens.output} of output, ${dollars(costUsd)}${
    unpriced > 0 ? ` and ${unpriced} calls whose price is not known` : ''
  }\n`

export const usage = {
  help: 'What was used, by whom, and what it cost',
  notes: 'Times are in UTC. Who spent what yesterday: signalbox usage --from yesterday --to today --by key,model',
  actions: {
    summary: {
      help: 'Sums of requests, tokens and costs, of the last 24 hours unless --from is given',
      fields: {
        by: text('by', 'key,day', 'What is told apart: key, group, model, target, user, hour, day, month; default key'),
        order: text('order', 'requests', 'What comes first: cost (the default), requests, tokens'),
        top: number('top', 'top', 'The most rows, 1 to 1000; all others are summed up in a last one'),
        compare: text('compare', 'before', 'With "before": the sums of the time of the same length before, too'),
        ...filters,
        csv,
      },
      async run(call) {
        const body = await call.api.usage.summary(await queryOf(call))
        const { rows, totals, before, warnings } = body
        const said = { body, ...(warnings && { warnings }) }
        if (call.input.csv) return { ...said, text: csvOf('rows', rows) }
        const names = await namesOf(call.api, rows)
        const text =
          rows.length > 0 ? table(rowColumns(names), rows) + total('Together', totals) : 'Nothing was used.\n'
        return { ...said, text: before ? text + total('Before', before.totals) : text }
      },
    },
    requests: {
      help: 'The latest requests, refused ones with why',
      fields: {
        ...filters,
        status: number('status', 'status', 'Only those that got this HTTP status'),
        end: text('end', 'refused', 'Only those that ended so: complete, aborted, cut, failed, refused'),
        error: text('error', 'KEY_PAUSED', "Only those that got this error of the gateway's"),
        endpoint: text('endpoint', '/v1/messages', 'Only those to this endpoint'),
        limit: number('limit', 'limit', 'The most requests to print, 1 to 1000; default 100'),
        before: text('before', '<id>', 'Goes on below this request'),
        csv,
      },
      async run(call) {
        const body = await call.api.usage.requests(await queryOf(call))
        const { requests, before } = body
        if (call.input.csv) return { body, text: csvOf('requests', requests) }
        if (requests.length === 0) return { body, text: 'There are no such requests.\n' }
        const more = before === undefined ? '' : `There are more: --before ${before}\n`
        return { body, text: table(requestColumns(await namesOf(call.api, requests)), requests) + more }
      },
    },
    request: {
      help: 'One request with its attempts, by the id in its header x-signalbox-request-id',
      words: ['<id>'],
      async run({ api, words: [id = ''] }) {
        const body = await api.usage.request(id)
        return printed(body, { ...body.request, warnings: body.request.warnings?.join(', ') })
      },
    },
  },
} satisfies CliCommand

function csvOf(what: 'rows' | 'requests', list: readonly object[]): string {
  const columns = csvColumns(what, list)
  return csvHead(columns) + csvLines(list, columns)
}
