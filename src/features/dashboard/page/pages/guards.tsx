import { type GuardKind, type GuardOption, guardKinds, guardTerms } from '../../../../types/records/guard-fields.ts'
import { useAction, useData, useSignal } from '../page-data.ts'
import { formatNumber, sanitize } from '../page-format.ts'
import { api, changeRecord, uncheckedApi } from '../session.ts'
import { Await, Button, Problem, State, Time } from '../ui/basics.tsx'
import { isInCode, RecordName } from '../ui/code-mark.tsx'
import { bindField, Form, NumberField, SelectField, TextArea, TextField } from '../ui/forms.tsx'
import { fromPairs, PairFields, toPairs } from '../ui/pair-fields.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Guard = Awaited<ReturnType<typeof api.value.guards.list>>['guards'][number]
type Open = { dialog: 'edit'; guard?: Guard } | { dialog: 'remove'; guard: Guard }

/** Shows the guards, what they did lately, and a form to try them. */
export default function Guards() {
  const { state, reload } = useData(load)
  const open = useSignal<Open | undefined>(undefined)
  const close = () => (open.value = undefined)
  const done = () => {
    close()
    reload()
  }
  return (
    <Await of={state.value} onRetry={reload}>
      {({ guards, counts, refusals, unguarded }) => (
        <>
          <p class="actions">
            <Button writes kind="primary" onClick={() => (open.value = { dialog: 'edit' })}>
              New guard
            </Button>
          </p>
          <Table
            caption="Guards"
            columns={getColumns(counts, (dialog) => (open.value = dialog))}
            rows={guards}
            getKey={({ name }) => name}
            empty="No guards yet. A guard checks the requests for which settings, a group, a key, or a combo names it."
          />
          <TryGuards names={guards.map(({ name }) => name)} />
          <Section title="Latest rejections">
            <Table
              caption="Latest rejections"
              columns={refusalColumns}
              rows={refusals}
              getKey={({ id, guard }) => id + guard}
              empty="No rejections in the latest requests."
            />
          </Section>
          <Section title="Keys without guards">
            <p>{unguarded.map(sanitize).join(', ') || 'None.'}</p>
          </Section>
          {open.value?.dialog === 'edit' && (
            <Dialog title={open.value.guard ? `Edit ${open.value.guard.name}` : 'New guard'} onClose={close}>
              <GuardForm {...(open.value.guard && { guard: open.value.guard })} onSaved={done} />
            </Dialog>
          )}
          {open.value?.dialog === 'remove' && <RemoveGuard guard={open.value.guard} onClose={close} onDone={done} />}
        </>
      )}
    </Await>
  )
}

async function load() {
  const [{ guards }, settings, { keys }, { groups }, requests] = await Promise.all([
    api.value.guards.list(),
    api.value.settings.get(),
    api.value.keys.list(),
    api.value.groups.list(),
    api.value.usage.requests({ limit: 500 }).then(
      (found) => found.requests,
      () => [], // usage isn't recorded
    ),
  ])
  const guarded = new Set(groups.flatMap((group) => (group.guards ? [group.id] : [])))
  const counts = new Map<string, Map<string, number>>()
  const refusals = requests.flatMap(({ id, time, keyId, model, guards: entries = [] }) => {
    for (const { name, verdict } of entries) {
      const known = counts.get(name) ?? new Map<string, number>()
      counts.set(name, known.set(verdict, (known.get(verdict) ?? 0) + 1))
    }
    return entries
      .filter(({ verdict }) => verdict === 'refuse')
      .map(({ name, category }) => ({
        ...{ id, time, model, category, guard: name },
        key: keys.find((key) => key.id === keyId)?.name ?? keyId,
      }))
  })
  const unguarded = settings.guards ? [] : keys.filter((key) => !key.guards && !guarded.has(key.group ?? ''))
  return { guards, counts, refusals: refusals.slice(0, 20), unguarded: unguarded.map(({ name }) => name) }
}

type Refusal = Awaited<ReturnType<typeof load>>['refusals'][number]

const refusalColumns: Column<Refusal>[] = [
  { name: 'Time', by: ({ time }) => time, cell: ({ time }) => <Time at={time} /> },
  { name: 'Key', cell: ({ key }) => key },
  { name: 'Model', cell: ({ model }) => model },
  { name: 'Guard', cell: ({ guard }) => guard },
  { name: 'Category', cell: ({ category }) => category },
]

const getColumns = (
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  open: (dialog: Open) => void,
): Column<Guard>[] => [
  {
    name: 'Name',
    by: ({ name }) => name,
    cell: (guard) => <RecordName of={guard.name} inCode={isInCode(guard)} />,
  },
  { name: 'Kind', by: ({ kind }) => kind, cell: ({ kind }) => kind },
  {
    name: 'State',
    cell: ({ error, mode }) =>
      error ? (
        <>
          <State kind="bad">Not working</State>
          <Problem>{error}</Problem>
        </>
      ) : (
        <State kind={mode === 'watch' ? 'warn' : 'good'}>{mode === 'watch' ? 'Watching' : 'Enforced'}</State>
      ),
  },
  {
    name: 'Verdicts in the latest requests',
    cell: ({ name }) => [...(counts.get(name) ?? [])].map(([word, n]) => `${word}: ${formatNumber(n)}`).join(', '),
  },
  {
    name: 'Actions',
    cell: (guard) =>
      !isInCode(guard) && (
        <>
          <Button writes of={guard.name} onClick={() => open({ dialog: 'edit', guard })}>
            Edit
          </Button>
          <Button kind="danger" of={guard.name} onClick={() => open({ dialog: 'remove', guard })}>
            Delete
          </Button>
        </>
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

const kindNames = Object.keys(guardKinds) as GuardKind[]

function GuardForm({ guard, onSaved }: { guard?: Guard; onSaved: () => void }) {
  const name = useSignal(guard?.name ?? '')
  const kind = useSignal<GuardKind>(guard?.kind ?? 'words')
  const texts = useSignal<Record<string, string>>(toTexts(guard))
  const pairs = useSignal(toPairs(guard?.thresholds))
  const options = (): Record<string, GuardOption> => ({ ...guardKinds[kind.value], ...guardTerms })
  const saving = useAction(async () => {
    const input: Record<string, unknown> = { kind: kind.value }
    for (const [field, { shape }] of Object.entries(options())) {
      const value = shape.type === 'map' ? fromPairs(pairs.value, Number) : readText(shape.type, texts.value[field])
      if (value !== null || (guard && field in guard)) input[field] = value
    }
    if (!guard) await uncheckedApi.value.guards.create({ name: name.value.trim(), ...input })
    else await changeRecord(guard, (ifMatch) => uncheckedApi.value.guards.update(guard.name, input, ifMatch))
    onSaved()
  })
  return (
    <Form of={saving} submit={guard ? 'Save' : 'Create'}>
      {!guard && <TextField label="Name" path="name" required of={name} />}
      {!guard && <SelectField label="Kind" path="kind" of={kind} options={kindNames} />}
      {Object.entries(options()).map(([field, option]) =>
        option.shape.type === 'map' ? (
          <PairFields key={field} title={toLabel(field)} path={field} of={pairs} />
        ) : (
          <OptionField key={field} field={field} option={option} of={bindField(texts, field)} />
        ),
      )}
    </Form>
  )
}

function OptionField({ field, option, of }: { field: string; option: GuardOption; of: { value: string | undefined } }) {
  const { shape, isOptional } = option
  const bound = {
    get value() {
      return of.value ?? ''
    },
    set value(text: string) {
      of.value = text
    },
  }
  const common = { label: toLabel(field) + (isOptional ? '' : ' (required)'), path: field, of: bound }
  if (shape.type === 'number') return <NumberField {...common} />
  if (shape.type === 'choice')
    return <SelectField label={common.label} path={field} of={bound} options={[['', 'Default'], ...shape.of]} />
  if (shape.type !== 'list') return <TextArea rows={2} {...common} />
  const known = shape.of.type === 'choice' ? `: ${shape.of.of.join(', ')}` : ''
  return <TextArea rows={3} {...common} hint={`One per line${known}.`} />
}

const toLabel = (field: string) =>
  field.charAt(0).toUpperCase() + field.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const toTexts = (guard: object = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(guard).map(([field, value]) => [field, Array.isArray(value) ? value.join('\n') : String(value)]),
  )

/** Returns the value of a field; `null` if it is empty. */
function readText(type: string, text = ''): unknown {
  if (text.trim() === '') return null
  if (type === 'number') return Number(text)
  return type === 'list' ? text.split('\n').flatMap((line) => line.trim() || []) : text
}

function TryGuards({ names }: { names: readonly string[] }) {
  const text = useSignal('')
  const guard = useSignal('')
  const result = useSignal<Awaited<ReturnType<typeof api.value.guards.test>> | undefined>(undefined)
  const trying = useAction(async () => {
    const guards = guard.value === '' ? [...names] : [guard.value]
    result.value = await api.value.guards.test({ text: text.value, guards })
  })
  if (names.length === 0) return null
  return (
    <Section title="Try a text">
      <Form of={trying} submit="Check" writes={false}>
        <TextArea rows={4} label="Text" hint="It isn’t stored." of={text} />
        <SelectField label="Guard" of={guard} options={[['', 'All'], ...names]} />
      </Form>
      {result.value && (
        <>
          <ul>
            {result.value.verdicts.map(({ name, verdict, category, error }) => (
              <li key={name}>
                {name}: {verdict}
                {category && ` (${category})`}
                {error && `: ${error}`}
              </li>
            ))}
          </ul>
          <pre>{result.value.text}</pre>
        </>
      )}
    </Section>
  )
}
