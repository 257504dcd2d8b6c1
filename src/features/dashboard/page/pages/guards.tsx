import { useAction, useData, useSignal } from '../page-data.ts'
import { formatNumber, sanitize } from '../page-format.ts'
import { buildLink } from '../route.ts'
import { api } from '../session.ts'
import { Await, Button, Problem, State, Text, Time } from '../ui/basics.tsx'
import { isInCode, RecordName } from '../ui/code-mark.tsx'
import { Form, SelectField, TextArea } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { type Guard, GuardForm, getKindLabel } from './guard-form.tsx'
import { describeState, describeVerdict, listUsedGuards } from './guard-verdicts.ts'

type OpenedDialog = { dialog: 'edit'; guard?: Guard } | { dialog: 'remove'; guard: Guard }

/** Shows the guards, their recent verdicts, and a form for testing them. */
export default function Guards() {
  const { state, reload } = useData(load)
  const openedDialog = useSignal<OpenedDialog | undefined>(undefined)
  const closeDialog = () => (openedDialog.value = undefined)
  const closeAndReload = () => {
    closeDialog()
    reload()
  }
  return (
    <Await of={state.value} onRetry={reload}>
      {({ guards, usedGuards, counts, refusals, unguarded }) => (
        <>
          <p class="actions">
            <Button writes kind="primary" onClick={() => (openedDialog.value = { dialog: 'edit' })}>
              New guard
            </Button>
          </p>
          <Table
            caption="Guards"
            columns={getColumns({ counts, usedGuards }, (dialog) => (openedDialog.value = dialog))}
            rows={guards}
            getKey={({ name }) => name}
            empty="No guards yet."
          />
          <p class="hint">
            A guard checks requests only if the settings, a group, a key, a combo, or the client names it.
          </p>
          <TryGuards names={guards.map(({ name }) => name)} />
          <Section title="Latest rejections">
            <Table
              caption="Latest rejections"
              columns={refusalColumns}
              rows={refusals}
              getKey={({ id, guard }) => id + guard}
              empty="No rejections yet."
            />
          </Section>
          <Section title="Keys without guards">
            <p class="hint">No settings, key, or group names a guard for them.</p>
            <p>{unguarded.map(sanitize).join(', ') || 'None.'}</p>
          </Section>
          {openedDialog.value?.dialog === 'edit' && (
            <Dialog
              title={openedDialog.value.guard ? `Edit ${openedDialog.value.guard.name}` : 'New guard'}
              onClose={closeDialog}
            >
              <GuardForm guard={openedDialog.value.guard} onSaved={closeAndReload} />
            </Dialog>
          )}
          {openedDialog.value?.dialog === 'remove' && (
            <RemoveGuard guard={openedDialog.value.guard} onClose={closeDialog} onDone={closeAndReload} />
          )}
        </>
      )}
    </Await>
  )
}

async function load() {
  const [{ guards }, settings, { keys }, { groups }, { combos }, requests] = await Promise.all([
    api.value.guards.list(),
    api.value.settings.get(),
    api.value.keys.list({ values: 'none' }),
    api.value.groups.list(),
    api.value.combos.list(),
    api.value.usage.requests({ limit: 500 }).then(
      (page) => page.requests,
      () => [], // fails if the gateway doesn't store usage
    ),
  ])
  const guardedGroups = new Set(groups.flatMap((group) => (group.guards ? [group.id] : [])))
  const counts = new Map<string, Map<string, number>>()
  const refusals = requests.flatMap(({ id, time, keyId, model, guards: entries = [] }) => {
    for (const entry of entries) {
      const countsByLabel = counts.get(entry.name) ?? new Map<string, number>()
      const verdict = describeVerdict(entry)
      counts.set(entry.name, countsByLabel.set(verdict, (countsByLabel.get(verdict) ?? 0) + 1))
    }
    return entries
      .filter(({ verdict, isWatched }) => verdict === 'refuse' && !isWatched)
      .map(({ name, category }) => ({
        ...{ id, time, model, category, guard: name },
        key: keys.find((key) => key.id === keyId)?.name ?? keyId,
      }))
  })
  const unguardedKeys = settings.guards ? [] : keys.filter((key) => !key.guards && !guardedGroups.has(key.group ?? ''))
  const usedGuards = listUsedGuards([settings, ...groups, ...keys, ...combos])
  return {
    guards,
    usedGuards,
    counts,
    refusals: refusals.slice(0, 20),
    unguarded: unguardedKeys.map(({ name }) => name),
  }
}

type Refusal = Awaited<ReturnType<typeof load>>['refusals'][number]

const refusalColumns: Column<Refusal>[] = [
  {
    name: 'Time',
    by: ({ time }) => time,
    cell: ({ id, time }) => (
      <a href={buildLink('requests', id)}>
        <Time time={time} />
      </a>
    ),
  },
  { name: 'Key', cell: ({ key }) => key },
  { name: 'Model', cell: ({ model }) => model },
  { name: 'Guard', cell: ({ guard }) => guard },
  { name: 'Category', cell: ({ category }) => category },
]

const getColumns = (
  { counts, usedGuards }: Pick<Awaited<ReturnType<typeof load>>, 'counts' | 'usedGuards'>,
  open: (dialog: OpenedDialog) => void,
): Column<Guard>[] => [
  {
    name: 'Name',
    by: ({ name }) => name,
    cell: (guard) => <RecordName of={guard.name} inCode={isInCode(guard)} />,
  },
  { name: 'Kind', by: ({ kind }) => getKindLabel(kind), cell: ({ kind }) => getKindLabel(kind) },
  {
    name: 'State',
    cell: (guard) => {
      const { kind, label } = describeState(guard, usedGuards)
      return guard.error ? (
        <>
          <State kind="bad">Not working</State>
          <Problem>{guard.error}</Problem>
        </>
      ) : (
        <State kind={kind}>{label}</State>
      )
    },
  },
  {
    name: 'Latest verdicts',
    cell: ({ name }) => [...(counts.get(name) ?? [])].map(([word, n]) => `${formatNumber(n)} ${word}`).join('; '),
  },
  {
    name: 'Actions',
    cell: (guard) =>
      !isInCode(guard) && (
        <div class="actions">
          <Button writes of={guard.name} onClick={() => open({ dialog: 'edit', guard })}>
            Edit
          </Button>
          <Button kind="danger" of={guard.name} onClick={() => open({ dialog: 'remove', guard })}>
            Delete
          </Button>
        </div>
      ),
  },
]

const RemoveGuard = ({ guard, onClose, onDone }: { guard: Guard; onClose: () => void; onDone: () => void }) => (
  <RemoveDialog
    title={`Delete ${guard.name}?`}
    text="Requests are no longer checked by this guard."
    record={guard}
    remove={(options) => api.value.guards.delete(guard.name, options)}
    onClose={onClose}
    onDone={onDone}
  />
)

function TryGuards({ names }: { names: readonly string[] }) {
  const text = useSignal('')
  const guard = useSignal('')
  const result = useSignal<Awaited<ReturnType<typeof api.value.guards.test>> | undefined>(undefined)
  const tryAction = useAction(async () => {
    const guards = guard.value === '' ? [...names] : [guard.value]
    result.value = await api.value.guards.test({ text: text.value, guards })
  })
  if (names.length === 0) return null
  return (
    <Section title="Try a text">
      <Form of={tryAction} submit="Check" writes={false}>
        <TextArea rows={4} label="Text" hint="It isn’t stored." of={text} />
        <SelectField label="Guard" of={guard} options={[['', 'All'], ...names]} />
      </Form>
      {result.value && (
        <>
          <ul>
            {result.value.verdicts.map(({ name, verdict, category, error }) => (
              <li key={name}>
                <Text of={`${name}: ${describeVerdict({ verdict }, category)}${error ? `: ${error}` : ''}`} />
              </li>
            ))}
          </ul>
          {result.value.verdicts.some(({ verdict }) => verdict === 'change') && (
            <>
              <p>After changes:</p>
              <pre>{result.value.text}</pre>
            </>
          )}
        </>
      )}
    </Section>
  )
}
