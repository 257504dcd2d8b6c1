import type { Client } from '../../client/client.ts'
import {
  addNames,
  formatCsvHeader,
  formatCsvLines,
  listCsvColumns,
  readNames,
} from '../../features/usage/operations/usage-export.ts'
import type { SummaryRow, UsageSummary, UsageTotals } from '../../features/usage/operations/usage-operations.ts'
import type { StoredRequest, StoredTarget } from '../../features/usage/request-record.ts'
import type { CommandOutput } from './command.ts'
import { createFlagOption } from './input-options.ts'
import type { ActionDetails } from './operation-action.ts'
import { type FieldColumn, formatTable } from './text-table.ts'

/** Finds the names of the keys and groups whose IDs are in the rows. */
const findNames = (api: Client<unknown>, list: ReadonlyArray<{ keyId?: string; groupId?: string }>) =>
  readNames(list, { keys: () => api.keys.list(), groups: () => api.groups.list() })

const formatTarget = (target: StoredTarget | undefined) => target && `${target.provider}/${target.model}`

const formatCost = (usd: number) => `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 1 ? 6 : 2)}`

const createRowColumns = (names: ReadonlyMap<string, string>): FieldColumn<SummaryRow>[] => [
  'month',
  'day',
  ['HOUR', ({ hour }) => hour?.slice(0, 16)],
  ['KEY', ({ keyId }) => keyId && (names.get(keyId) ?? keyId)],
  ['GROUP', ({ groupId }) => groupId && (names.get(groupId) ?? groupId)],
  'account',
  'model',
  ['TARGET', ({ target }) => formatTarget(target)],
  ['CONNECTION', ({ target }) => target?.connectionId],
  'user',
  ['OTHERS', ({ others }) => (others === undefined ? undefined : `${others} more`)],
  'requests',
  'failed',
  ['REJECTED', ({ refused: rejected }) => String(rejected)],
  ['INPUT', ({ tokens }) => String(tokens.input)],
  ['CACHED', ({ tokens }) => String(tokens.cacheRead)],
  ['OUTPUT', ({ tokens }) => String(tokens.output)],
  ['COST', ({ costUsd }) => formatCost(costUsd)],
  ['TTFT P95', ({ firstByteMs }) => firstByteMs && `${firstByteMs.p95} ms`],
  ['P95', ({ durationMs }) => durationMs && `${durationMs.p95} ms`],
  ['UNPRICED', ({ unpriced }) => (unpriced > 0 ? String(unpriced) : undefined)],
]

const createRequestColumns = (names: ReadonlyMap<string, string>): FieldColumn<StoredRequest>[] => [
  'time',
  ['KEY', ({ keyId }) => keyId && (names.get(keyId) ?? keyId)],
  'model',
  ['TARGET', ({ target }) => formatTarget(target)],
  'status',
  'end',
  ['TOKENS', ({ attempts, tokens }) => (attempts.length > 0 ? `${tokens.input}+${tokens.output}` : undefined)],
  ['COST', ({ attempts, costUsd }) => (attempts.length > 0 && costUsd !== undefined ? formatCost(costUsd) : undefined)],
  'error',
  'reason',
  'id',
]

/** Formats a period's totals in one line. */
export const formatTotals = (title: string, { requests, tokens, costUsd, unpriced }: UsageTotals): string =>
  `${title}: ${requests} requests, ${tokens.input} input tokens, ${tokens.output} output tokens, ${formatCost(costUsd)}${
    unpriced > 0 ? `, plus ${unpriced} calls without a known price` : ''
  }\n`

/** Formats the list as CSV, with the names of keys and groups next to their IDs. */
function formatCsv(
  contents: 'rows' | 'requests',
  list: ReadonlyArray<{ keyId?: string; groupId?: string }>,
  names: ReadonlyMap<string, string>,
): string {
  const columns = listCsvColumns(contents, list)
  return formatCsvHeader(columns) + formatCsvLines(addNames(list, names), columns)
}

/** Shared by both listings: adds `--csv`, and removes it from the call because the gateway doesn't support it. */
const listing = {
  fields: { csv: createFlagOption('csv', true, 'Print CSV') },
  run: async ({ input: { csv: _, ...query } }, { perform, format }) => format(await perform(query)),
} satisfies ActionDetails

interface RequestList {
  requests: readonly StoredRequest[]
  before?: string
  missing?: number
  warnings?: readonly string[]
}

export const usageActions = {
  summary: {
    ...listing,
    help: 'Summarize usage in the last 24 hours, or in the given range',
    hides: ['series', 'names'],
    async show(body: UsageSummary & { warnings?: readonly string[] }, { api, input }): Promise<CommandOutput> {
      const { rows, totals, before, warnings } = body
      const names = await findNames(api, rows)
      const printed = { body, ...(warnings && { warnings }) }
      if (input.csv) return { ...printed, text: formatCsv('rows', rows, names) }
      const text =
        rows.length > 0
          ? formatTable(createRowColumns(names), rows) + formatTotals('Total', totals)
          : 'No usage in this period.\n'
      return { ...printed, text: before ? text + formatTotals('Preceding period', before.totals) : text }
    },
  },
  requests: {
    ...listing,
    help: 'List the latest requests, including rejected ones',
    async show(body: RequestList, { api, input }): Promise<CommandOutput> {
      const { requests, before, missing, warnings = [] } = body
      const missingNote = `${missing} more requests in this period are included in the totals but have no record, because the storage was slow or unavailable.`
      const printed = { body, warnings: missing === undefined ? warnings : [...warnings, missingNote] }
      const names = await findNames(api, requests)
      if (input.csv) return { ...printed, text: formatCsv('requests', requests, names) }
      if (requests.length === 0) return { ...printed, text: 'No matching requests.\n' }
      const more = before === undefined ? '' : `More: --before ${before}\n`
      return { ...printed, text: formatTable(createRequestColumns(names), requests) + more }
    },
  },
  request: {
    help: 'Show a request and its attempts; <id> is in the x-signalbox-request-id header',
    noun: 'id',
  },
} satisfies Record<string, ActionDetails>
