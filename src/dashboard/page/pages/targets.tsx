import type { HealthEntry } from '../../../routing/health-entry.ts'
import { useChange, useLoaded, useSignal } from '../data.ts'
import { duration, escaped, percent, shown } from '../format.ts'
import { api } from '../session.ts'
import { common } from '../texts/frame.ts'
import * as texts from '../texts/targets.ts'
import { Await, Button, Problem, State, Text, Time } from '../ui/basics.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { ConnectionDialog } from './connection-form.tsx'

type Connections = Awaited<ReturnType<typeof api.value.connections.list>>['connections']
export type ShownConnection = Connections[number]
type Health = Awaited<ReturnType<typeof api.value.health.list>>
type TargetState = Health['targets'][number]

/** Connections, what is ill, and what can be done about it. */
export default function Targets() {
  const { state, reload } = useLoaded(load, { everyMs: 15_000, on: ['health', 'changed', 'lost'] })
  const edited = useSignal<ShownConnection | 'new' | undefined>(undefined)
  const removed = useSignal<ShownConnection | undefined>(undefined)
  const tested = useSignal<Tested | undefined>(undefined)
  const change = useChange(reload)

  return (
    <>
      <div class="tools">
        <span class="grow" />
        <Button writes kind="primary" onClick={() => (edited.value = 'new')}>
          {texts.add}
        </Button>
      </div>
      <Problem>{change.error.value}</Problem>
      <TestResult tested={tested.value} />
      <Await of={state.value} onRetry={reload}>
        {({ connections, health, targets }) => (
          <>
            <Section title={texts.ill}>
              {health.length === 0 ? (
                <p>
                  <State kind="good">{texts.well}</State>
                </p>
              ) : (
                <Table caption={texts.ill} columns={illColumns(connections)} rows={health} keyOf={healthKey} />
              )}
            </Section>
            <Section title={texts.connections}>
              <Table
                caption={texts.connections}
                columns={connectionColumns({ health, targets, edited, removed, tested, run: change.run })}
                rows={connections}
                keyOf={({ id }) => id}
                empty={texts.empty}
              />
            </Section>
          </>
        )}
      </Await>
      {edited.value !== undefined && (
        <ConnectionDialog
          connection={edited.value === 'new' ? undefined : edited.value}
          onClose={() => (edited.value = undefined)}
          onSaved={() => {
            edited.value = undefined
            reload()
          }}
        />
      )}
      {removed.value && (
        <RemoveDialog
          title={texts.removeTitle(removed.value.name)}
          text={texts.removeText}
          record={removed.value}
          remove={removal(removed.value.id)}
          onClose={() => (removed.value = undefined)}
          onDone={() => {
            removed.value = undefined
            reload()
          }}
        />
      )}
    </>
  )
}

async function load() {
  const [{ connections }, { health, targets }] = await Promise.all([
    api.value.connections.list(),
    api.value.health.list(),
  ])
  return { connections, health, targets }
}

const healthKey = ({ level, provider, connectionId, model, combo }: HealthEntry) =>
  [level, provider, connectionId, model, combo].join(' ')

function illColumns(connections: Connections): Column<HealthEntry>[] {
  const nameOf = (id: string | undefined) => connections.find((one) => one.id === id)?.name
  return [
    {
      name: texts.columnLevel,
      cell: ({ level, provider, connectionId, model }) => (
        <>
          {texts.levels[level]} <Text of={[nameOf(connectionId) ?? provider, model].filter(Boolean).join(' / ')} />
        </>
      ),
    },
    {
      name: texts.columnState,
      cell: ({ state }) => <State kind={state === 'cooling' ? 'bad' : 'warn'}>{texts.states[state]}</State>,
    },
    {
      name: texts.columnReason,
      cell: ({ reason, message }) => (
        <>
          {reason}: <Text of={message} />
        </>
      ),
    },
    { name: texts.columnFailures, cell: ({ failures }) => failures, isNumber: true, by: ({ failures }) => failures },
    { name: texts.columnUntil, cell: ({ retryAt }) => retryAt !== undefined && <Time at={retryAt} /> },
  ]
}

interface RowTerms {
  health: readonly HealthEntry[]
  targets: readonly TargetState[]
  edited: { value: ShownConnection | 'new' | undefined }
  removed: { value: ShownConnection | undefined }
  tested: { value: Tested | undefined }
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

function connectionColumns({ health, targets, edited, removed, tested, run }: RowTerms): Column<ShownConnection>[] {
  const { connections, health: healthApi } = api.value
  const ofConnection = (id: string) => targets.filter(({ connectionId }) => connectionId === id)
  const sum = (id: string, of: (target: TargetState) => number) =>
    ofConnection(id).reduce((all, one) => all + of(one), 0)
  return [
    {
      name: texts.columnName,
      by: ({ name }) => name,
      cell: ({ name, id }) => <span title={id}>{shown(name)}</span>,
    },
    { name: texts.columnProvider, by: ({ provider }) => provider, cell: ({ provider }) => provider },
    {
      name: texts.columnModels,
      cell: ({ providerSpecificData }) => providerSpecificData?.enabledModels?.length ?? texts.all,
      isNumber: true,
    },
    { name: texts.columnState, cell: (connection) => <ConnectionState connection={connection} health={health} /> },
    { name: texts.columnCalls, cell: ({ id }) => sum(id, callsOf), by: ({ id }) => sum(id, callsOf), isNumber: true },
    {
      name: texts.columnFailed,
      isNumber: true,
      cell: ({ id }) => (sum(id, callsOf) > 0 ? percent(sum(id, failuresOf) / sum(id, callsOf)) : '–'),
    },
    { name: texts.columnPriority, cell: ({ priority }) => priority ?? '–', isNumber: true },
    {
      name: texts.columnActions,
      cell: (connection) => {
        const { id, name, isActive = true, draining = false } = connection
        return (
          <div class="actions">
            <Button writes of={name} onClick={() => (edited.value = connection)}>
              {common.edit}
            </Button>
            <Button
              writes
              of={name}
              disabled={tested.value?.result === 'waiting'}
              onClick={() => run(() => test(connection, tested))}
            >
              {texts.test}
            </Button>
            <Button writes of={name} onClick={() => run(() => connections.update(id, { draining: !draining }))}>
              {draining ? texts.undrain : texts.drain}
            </Button>
            <Button writes of={name} onClick={() => run(() => connections.update(id, { isActive: !isActive }))}>
              {isActive ? texts.pause : texts.resume}
            </Button>
            {health.some(({ connectionId }) => connectionId === id) && (
              <Button writes of={name} onClick={() => run(() => healthApi.reset(id))}>
                {texts.reset}
              </Button>
            )}
            <Button kind="danger" of={name} onClick={() => (removed.value = connection)}>
              {common.delete}
            </Button>
          </div>
        )
      },
    },
  ]
}

/** A connection that is asked, or was. */
interface Tested {
  name: string
  result: 'waiting' | Awaited<ReturnType<typeof api.value.connections.test>>
}

async function test({ id, name }: ShownConnection, tested: RowTerms['tested']) {
  tested.value = { name, result: 'waiting' }
  try {
    tested.value = { name, result: await api.value.connections.test(id) }
  } catch (error) {
    tested.value = undefined
    throw error
  }
}

function TestResult({ tested }: { tested: Tested | undefined }) {
  return (
    <div role="status">
      {tested && (
        <p class="notice">
          {tested.result === 'waiting' ? (
            <Text of={texts.testing(tested.name)} />
          ) : (
            <>
              <State kind={tested.result.ok ? 'good' : 'bad'}>
                {tested.result.ok ? texts.tested(duration(tested.result.ms)) : tested.result.status}
              </State>{' '}
              <Text of={`${tested.name}, ${tested.result.model}`} /> {escaped(tested.result.message ?? '')}
            </>
          )}
        </p>
      )}
    </div>
  )
}

const callsOf = ({ calls }: TargetState) => calls
const failuresOf = ({ calls, failureShare = 0 }: TargetState) => calls * failureShare

function ConnectionState({ connection, health }: { connection: ShownConnection; health: readonly HealthEntry[] }) {
  if (connection.isActive === false) return <State kind="off">{texts.states.paused}</State>
  const entry = health.find(
    ({ level, connectionId, provider }) =>
      connectionId === connection.id || (level === 'provider' && provider === connection.provider),
  )
  if (entry) return <State kind={entry.state === 'cooling' ? 'bad' : 'warn'}>{texts.states[entry.state]}</State>
  if (connection.draining) return <State kind="warn">{texts.states.draining}</State>
  return <State kind="good">{texts.states.ok}</State>
}

const removal = (id: string) => (options: object) => api.value.connections.delete(id, options)
