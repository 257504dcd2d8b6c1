import type { HealthEntry } from '../../../../request/routing/health-entry.ts'
import { getOutcomeLabel, healthLabels } from '../labels.ts'
import { useChange, useData, useSignal } from '../page-data.ts'
import { escapeInvisible, formatDateTime, formatDuration, formatMoney, formatPercent } from '../page-format.ts'
import { api } from '../session.ts'
import { Await, Button, Problem, State, Text, Time } from '../ui/basics.tsx'
import { isInCode, nameColumn } from '../ui/code-mark.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { ConnectionDialog } from './connection-form.tsx'

type Connections = Awaited<ReturnType<typeof api.value.connections.list>>['connections']
export type ConnectionView = Connections[number]
type Health = Awaited<ReturnType<typeof api.value.health.list>>
type TargetState = Health['targets'][number]

/** Shows connections and unhealthy targets. */
export default function Targets() {
  const { state, reload } = useData(load, { intervalMs: 15_000, on: ['health', 'changed', 'lost'] })
  const editedConnection = useSignal<ConnectionView | 'new' | undefined>(undefined)
  const removedConnection = useSignal<ConnectionView | undefined>(undefined)
  const connectionTest = useSignal<ConnectionTest | undefined>(undefined)
  const change = useChange(reload)

  return (
    <>
      <div class="tools">
        <span class="grow" />
        <Button writes kind="primary" onClick={() => (editedConnection.value = 'new')}>
          Add connection
        </Button>
      </div>
      <Problem>{change.error.value}</Problem>
      <TestResult tested={connectionTest.value} />
      <Await of={state.value} onRetry={reload}>
        {({ connections, health, targets, promptCaching, coldSessions, windowMs, startedAt }) => (
          <>
            <Section title="Unhealthy targets">
              {health.length === 0 ? (
                <p>
                  <State kind="good">All targets are healthy.</State>
                </p>
              ) : (
                <Table
                  caption="Unhealthy targets"
                  columns={getHealthColumns(connections)}
                  rows={health}
                  getKey={getHealthKey}
                />
              )}
            </Section>
            {promptCaching.length > 0 && (
              <Section title="Prompt caching paused">
                <p class="hint">Cache marks cost more than they saved, so these requests get none for a while.</p>
                <Table
                  caption="Prompt caching paused"
                  columns={pauseColumns}
                  rows={promptCaching}
                  getKey={({ caller, connectionId, model }) => [caller, connectionId, model].join(' ')}
                />
              </Section>
            )}
            {coldSessions.length > 0 && (
              <Section title="Sessions that read little from the cache">
                <Table
                  caption="Sessions that read little from the cache"
                  columns={coldColumns}
                  rows={coldSessions}
                  getKey={(session) => JSON.stringify(session)}
                />
              </Section>
            )}
            <Section title="Connections">
              <Table
                caption="Connections"
                columns={getConnectionColumns({
                  health,
                  targets,
                  edited: editedConnection,
                  removed: removedConnection,
                  tested: connectionTest,
                  run: change.run,
                })}
                rows={connections}
                getKey={({ id }) => id}
                empty="No connections yet. Connect a provider to use its models."
              />
              <p class="hint">
                Calls and failures cover the past {formatDuration(windowMs)} on this instance, which started on{' '}
                {formatDateTime(startedAt)}.
              </p>
            </Section>
          </>
        )}
      </Await>
      {editedConnection.value !== undefined && (
        <ConnectionDialog
          connection={editedConnection.value === 'new' ? undefined : editedConnection.value}
          onClose={() => (editedConnection.value = undefined)}
          onSaved={() => {
            editedConnection.value = undefined
            reload()
          }}
        />
      )}
      {removedConnection.value && (
        <RemoveDialog
          title={`Delete connection "${removedConnection.value.name}"?`}
          text="This also deletes its API key. To stop sending requests but keep the connection, pause or drain it instead."
          record={removedConnection.value}
          remove={createRemoval(removedConnection.value.id)}
          onClose={() => (removedConnection.value = undefined)}
          onDone={() => {
            removedConnection.value = undefined
            reload()
          }}
        />
      )}
    </>
  )
}

async function load() {
  const [{ connections }, { health, targets, promptCaching, coldSessions }, settings, { startedAt }] =
    await Promise.all([
      api.value.connections.list(),
      api.value.health.list(),
      api.value.settings.get(),
      api.value.info(),
    ])
  return { connections, health, targets, promptCaching, coldSessions, startedAt, windowMs: settings.health.windowMs }
}

interface CachedTarget {
  caller: string
  provider: string
  model: string
}

const cachedColumns: Column<CachedTarget>[] = [
  { name: 'Key or account', cell: ({ caller }) => caller || 'None' },
  { name: 'Target', cell: ({ provider, model }) => `${provider}/${model}` },
]

const pauseColumns: Column<Health['promptCaching'][number]>[] = [
  ...cachedColumns,
  { name: 'Saved', isNumber: true, cell: ({ savedUsd }) => formatMoney(savedUsd) },
  { name: 'Until', cell: ({ until }) => <Time time={until} /> },
]

const coldColumns: Column<Health['coldSessions'][number]>[] = [
  ...cachedColumns,
  { name: 'Requests', isNumber: true, cell: ({ requests }) => requests },
  { name: 'Cached', isNumber: true, cell: ({ readShare }) => formatPercent(readShare) },
  { name: 'Last used', cell: ({ lastUsedAt }) => <Time time={lastUsedAt} /> },
]

const getHealthKey = ({ level, provider, connectionId, model, combo }: HealthEntry) =>
  [level, provider, connectionId, model, combo].join(' ')

function getHealthColumns(connections: Connections): Column<HealthEntry>[] {
  const getName = (id: string | undefined) => connections.find((connection) => connection.id === id)?.name
  return [
    {
      name: 'Target',
      cell: ({ level, provider, connectionId, model }) =>
        `${[getName(connectionId) ?? provider, model].filter(Boolean).join(' / ')} (${level})`,
    },
    {
      name: 'Status',
      cell: ({ state }) => <State kind={state === 'cooling' ? 'bad' : 'warn'}>{healthLabels[state]}</State>,
    },
    {
      name: 'Reason',
      cell: ({ reason, message }) => (
        <>
          {getOutcomeLabel(reason)}: <Text of={message} />
        </>
      ),
    },
    { name: 'Consecutive failures', cell: ({ failures }) => failures, isNumber: true, by: ({ failures }) => failures },
    { name: 'Next attempt', cell: ({ retryAt }) => retryAt !== undefined && <Time time={retryAt} /> },
  ]
}

interface ConnectionActions {
  health: readonly HealthEntry[]
  targets: readonly TargetState[]
  edited: { value: ConnectionView | 'new' | undefined }
  removed: { value: ConnectionView | undefined }
  tested: { value: ConnectionTest | undefined }
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

function getConnectionColumns({
  health,
  targets,
  edited,
  removed,
  tested,
  run,
}: ConnectionActions): Column<ConnectionView>[] {
  const { connections, health: healthApi } = api.value
  const listConnectionTargets = (id: string) => targets.filter(({ connectionId }) => connectionId === id)
  const sum = (id: string, getCount: (target: TargetState) => number) =>
    listConnectionTargets(id).reduce((total, target) => total + getCount(target), 0)
  return [
    nameColumn,
    { name: 'Provider', by: ({ provider }) => provider, cell: ({ provider }) => provider },
    {
      name: 'Models',
      cell: ({ providerSpecificData }) => providerSpecificData?.enabledModels?.length ?? 'All',
      isNumber: true,
    },
    { name: 'Status', cell: (connection) => <ConnectionState connection={connection} health={health} /> },
    { name: 'Calls', cell: ({ id }) => sum(id, countCalls), by: ({ id }) => sum(id, countCalls), isNumber: true },
    {
      name: 'Failed',
      isNumber: true,
      cell: ({ id }) => (sum(id, countCalls) > 0 ? formatPercent(sum(id, countFailures) / sum(id, countCalls)) : '–'),
    },
    { name: 'Priority', cell: ({ priority }) => priority ?? '–', isNumber: true },
    {
      name: 'Actions',
      cell: (connection) => {
        const { id, name, isActive = true, draining = false } = connection
        const canChange = !isInCode(connection)
        return (
          <div class="actions">
            {canChange && (
              <Button writes of={name} onClick={() => (edited.value = connection)}>
                Edit
              </Button>
            )}
            <Button
              writes
              of={name}
              disabled={tested.value?.result === 'waiting'}
              onClick={() => run(() => testConnection(connection, tested))}
            >
              Test
            </Button>
            {canChange && (
              <>
                <Button writes of={name} onClick={() => run(() => connections.update(id, { draining: !draining }))}>
                  {draining ? 'Stop draining' : 'Drain'}
                </Button>
                <Button writes of={name} onClick={() => run(() => connections.update(id, { isActive: !isActive }))}>
                  {isActive ? 'Pause' : 'Resume'}
                </Button>
              </>
            )}
            {health.some(({ connectionId }) => connectionId === id) && (
              <Button writes of={name} onClick={() => run(() => healthApi.reset(id))}>
                Reset health
              </Button>
            )}
            {canChange && (
              <Button kind="danger" of={name} onClick={() => (removed.value = connection)}>
                Delete
              </Button>
            )}
          </div>
        )
      },
    },
  ]
}

interface ConnectionTest {
  name: string
  result: 'waiting' | Awaited<ReturnType<typeof api.value.connections.test>>
}

async function testConnection({ id, name }: ConnectionView, tested: ConnectionActions['tested']) {
  tested.value = { name, result: 'waiting' }
  try {
    tested.value = { name, result: await api.value.connections.test(id) }
  } catch (error) {
    tested.value = undefined
    throw error
  }
}

function TestResult({ tested }: { tested: ConnectionTest | undefined }) {
  return (
    <div role="status">
      {tested && (
        <p class="notice">
          {tested.result === 'waiting' ? (
            <Text of={`Sending a short test request to ${tested.name}…`} />
          ) : (
            <>
              <State kind={tested.result.ok ? 'good' : 'bad'}>
                {tested.result.ok ? `Responded in ${formatDuration(tested.result.ms)}` : tested.result.status}
              </State>{' '}
              <Text of={`${tested.name}, ${tested.result.model}`} /> {escapeInvisible(tested.result.message ?? '')}
            </>
          )}
        </p>
      )}
    </div>
  )
}

const countCalls = ({ calls }: TargetState) => calls
const countFailures = ({ calls, failureShare = 0 }: TargetState) => calls * failureShare

function ConnectionState({ connection, health }: { connection: ConnectionView; health: readonly HealthEntry[] }) {
  if (connection.isActive === false) return <State kind="off">Paused</State>
  const entry = health.find(
    ({ level, connectionId, provider }) =>
      connectionId === connection.id || (level === 'provider' && provider === connection.provider),
  )
  if (entry) return <State kind={entry.state === 'cooling' ? 'bad' : 'warn'}>{healthLabels[entry.state]}</State>
  if (connection.draining) return <State kind="warn">Draining</State>
  return <State kind="good">Ready</State>
}

const createRemoval = (id: string) => (options: object) => api.value.connections.delete(id, options)
