import type { Overview } from '../../management/overview.ts'
import type { DamagedRecord } from '../../records/stored-records.ts'
import type { ExplainedTarget, Explanation } from '../../request/routing/explanation.ts'
import type { HealthEntry, TargetState } from '../../request/routing/health-entry.ts'
import type { ActionDetails } from './operation-action.ts'
import { limitColumns } from './record-actions.ts'
import { type FieldColumn, formatDetails, formatTable } from './text-table.ts'
import { formatTotals } from './usage-actions.ts'

/** Formats a table below its title. Returns an empty string if there are no rows. */
const addTitle = <T extends object>(title: string, columns: readonly FieldColumn<T>[], rows: readonly T[]): string =>
  rows.length === 0 ? '' : `${title}\n${formatTable(columns, rows)}`

/** Joins the non-empty blocks with blank lines. */
const joinBlocks = (...blocks: string[]): string => blocks.filter((block) => block !== '').join('\n')

const formatTarget = ({ provider, model }: { provider: string; model?: string }) =>
  model === undefined ? provider : `${provider}/${model}`

const targetColumns: readonly FieldColumn<ExplainedTarget>[] = [
  'use',
  ['TARGET', formatTarget],
  'connection',
  'via',
  'why',
]

export const explainAction = {
  help: 'List the targets in the order they would be tried; no request is sent',
  words: ['model'],
  hides: ['model'],
  show(body: Explanation, { explain }) {
    const { route, targets, leftOut, error } = body
    const decision = route?.error ?? (route?.models && `Chosen by "route": ${route.models.join(', ')}`)
    return {
      body,
      text: joinBlocks(
        decision ? `${decision}\n` : '',
        targets.length > 0 ? formatTable(targetColumns, targets) : '',
        addTitle('Excluded:', ['combo', 'model', ['EXCLUDED BY', ({ unmet }) => unmet]], leftOut),
        error ? `A client would get a ${error.status}: ${explain(error.message)}\n` : '',
      ),
    }
  },
} satisfies ActionDetails

const failureColumns: readonly FieldColumn<HealthEntry>[] = [
  'level',
  ['TARGET', formatTarget],
  'combo',
  'state',
  'reason',
  'failures',
  ['UNTIL', ({ retryAt }) => retryAt],
  'message',
]

const stateColumns: readonly FieldColumn<TargetState>[] = [
  ['TARGET', formatTarget],
  ['CONNECTION', ({ connectionId }) => connectionId],
  'combo',
  'state',
  'calls',
  ['FAILED', ({ failureShare }) => (failureShare === undefined ? undefined : `${Math.round(failureShare * 100)}%`)],
]

const formatFailures = (failures: readonly HealthEntry[]) =>
  failures.length > 0 ? addTitle('Recent failures:', failureColumns, failures) : 'No recent failures.\n'

interface HealthReport {
  health: readonly HealthEntry[]
  targets: readonly TargetState[]
  damaged: readonly DamagedRecord[]
}

export const healthActions = {
  list: {
    show(body: HealthReport) {
      const { health, targets, damaged } = body
      const targetTable = addTitle('Targets:', stateColumns, targets)
      return {
        body,
        text: joinBlocks(
          formatFailures(health),
          targetTable,
          addTitle('Damaged records:', ['key', 'problem'], damaged),
        ),
      }
    },
  },
  reset: {
    noun: 'connection',
    show: (body: object, { words: [name] }) => ({
      body,
      text: `Reset the health of ${name === undefined ? 'all targets' : `"${name}"`}.\n`,
    }),
  },
  record: { noun: 'record' },
  repair: {
    help: 'Replace a damaged record with the complete record in --data',
    noun: 'record',
    async run({ words: [key], input }, { perform }) {
      return { body: await perform({ record: input }), text: `Replaced record "${key}".\n` }
    },
  },
  remove: { noun: 'record', show: (body: object, { words: [key] }) => ({ body, text: `Deleted record "${key}".\n` }) },
} satisfies Record<string, ActionDetails>

export const overviewAction = {
  help: 'Show the usage of the last 24 hours, recent failures, and limits that are at least 80% used',
  show(body: Overview) {
    const { usage, failures, health, damaged, nearLimits = [], counts, requireApiKey, mirrorError } = body
    return {
      body,
      text: joinBlocks(
        usage ? formatTotals('Last 24 hours', usage.totals) : '',
        formatDetails({
          ...counts,
          requireApiKey,
          damagedRecords: damaged,
          ...(mirrorError && { syncError: mirrorError }),
        }),
        addTitle('Failed requests:', ['time', 'model', 'status', 'end', 'error', 'id'], failures),
        formatFailures(health),
        addTitle('Limits that are almost used up:', ['name', ...limitColumns], nearLimits),
      ),
    }
  },
} satisfies ActionDetails

export const openapiAction = {
  show: (body: object) => ({ body, text: `${JSON.stringify(body, null, 2)}\n` }),
} satisfies ActionDetails
