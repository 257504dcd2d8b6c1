import { useAction, useLoaded, useSignal } from '../data.ts'
import { limitTexts } from '../limits.ts'
import { route, setQuery } from '../route.ts'
import { api } from '../session.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/keys.ts'
import { Await, Button, Dialog, Problem, SelectField, State, Text, TextField, Time } from '../ui/basics.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { MadeDialog, RemoveKeyDialog, RotateDialog } from './key-dialogs.tsx'
import { LimitsDialog } from './limits-dialog.tsx'
import { given, OwnerForm } from './owner-form.tsx'

type ListedKey = Awaited<ReturnType<typeof api.value.keys.list>>['keys'][number]
/** A key without its value, which this page holds only while a dialog shows a new one. */
export type PlainKey = Exclude<ListedKey, { key: string }>
export type Group = Awaited<ReturnType<typeof api.value.groups.list>>['groups'][number]

/** What is open above the page. */
type Open =
  | { dialog: 'new-key' | 'new-group' }
  | { dialog: 'edit-key' | 'rotate' | 'remove-key' | 'limits'; key: PlainKey }
  | { dialog: 'edit-group' | 'remove-group' | 'group-limits'; group: Group }
  | { dialog: 'made'; name: string; value: string }

/** Keys and groups: who may use what. */
export default function Keys() {
  const { state, reload } = useLoaded(load)
  const open = useSignal<Open | undefined>(undefined)
  const close = () => {
    open.value = undefined
  }
  const done = () => {
    close()
    reload()
  }
  const change = useAction(async (act: () => Promise<unknown>) => {
    await act()
    reload()
  })

  return (
    <Await of={state.value} onRetry={reload}>
      {({ keys, groups }) => (
        <>
          <Filters groups={groups} onNew={() => (open.value = { dialog: 'new-key' })} />
          {change.error.value !== undefined && <Problem>{change.error.value}</Problem>}
          <Table
            caption={common.pages.keys}
            columns={keyColumns(groups, { open: (dialog) => (open.value = dialog), run: change.run })}
            rows={filtered(keys)}
            keyOf={({ id }) => id}
            empty={keys.length === 0 ? texts.empty : common.common.nothing}
          />
          <section aria-labelledby="groups">
            <div class="tools">
              <h2 id="groups" class="grow">
                {texts.groups}
              </h2>
              <Button onClick={() => (open.value = { dialog: 'new-group' })}>{texts.newGroup}</Button>
            </div>
            <Table
              caption={texts.groups}
              columns={groupColumns(keys, { open: (dialog) => (open.value = dialog), run: change.run })}
              rows={groups}
              keyOf={({ id }) => id}
              empty={texts.noGroups}
            />
          </section>
          {open.value && (
            <OpenDialog
              open={open.value}
              groups={groups}
              onClose={close}
              onDone={done}
              onMade={(name, value) => {
                open.value = { dialog: 'made', name, value }
                reload()
              }}
            />
          )}
        </>
      )}
    </Await>
  )
}

async function load(): Promise<{ keys: PlainKey[]; groups: Group[] }> {
  const [{ keys }, { groups }] = await Promise.all([api.value.keys.list({ values: 'none' }), api.value.groups.list()])
  return { keys, groups }
}

function Filters({ groups, onNew }: { groups: readonly Group[]; onNew: () => void }) {
  const { query } = route.value
  return (
    <div class="tools">
      <TextField label={texts.search} type="search" value={query.get('q') ?? ''} onInput={(q) => setQuery({ q })} />
      <SelectField
        label={texts.columns.group}
        value={query.get('group') ?? ''}
        options={[['', texts.allGroups], ...groups.map(({ id, name }) => [id, name] as const)]}
        onChange={(group) => setQuery({ group })}
      />
      <SelectField
        label={texts.columns.state}
        value={query.get('state') ?? ''}
        options={[['', texts.allStates], ...Object.entries(texts.states)]}
        onChange={(state) => setQuery({ state })}
      />
      <span class="grow" />
      <Button kind="primary" onClick={onNew}>
        {texts.new}
      </Button>
    </div>
  )
}

function filtered(keys: readonly PlainKey[]): PlainKey[] {
  const { query } = route.value
  const q = (query.get('q') ?? '').toLowerCase()
  const group = query.get('group')
  const wanted = query.get('state')
  return keys.filter(
    (key) =>
      (key.name.toLowerCase().includes(q) || key.id.includes(q)) &&
      (!group || key.group === group) &&
      (!wanted || stateOf(key) === wanted),
  )
}

function stateOf({ error, isActive, expiresAt }: PlainKey): keyof typeof texts.states {
  if (error !== undefined) return 'refused'
  if (isActive === false) return 'paused'
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

const kinds = { active: 'good', paused: 'off', expired: 'warn', refused: 'bad' } as const

interface RowTerms {
  open: (dialog: Open) => void
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

function keyColumns(groups: readonly Group[], { open, run }: RowTerms): Column<PlainKey>[] {
  const groupName = ({ group }: PlainKey) => groups.find(({ id }) => id === group)?.name ?? group ?? ''
  return [
    {
      name: texts.columns.name,
      by: ({ name }) => name,
      cell: ({ name, id }) => (
        <span title={id}>
          <Text of={name} />
        </span>
      ),
    },
    { name: texts.columns.group, by: groupName, cell: (key) => <Text of={groupName(key)} /> },
    {
      name: texts.columns.state,
      cell: (key) => (
        <span title={key.error}>
          <State kind={kinds[stateOf(key)]}>{texts.states[stateOf(key)]}</State>
        </span>
      ),
    },
    { name: texts.columns.reach, cell: ({ models }) => <Text of={models?.join(', ') ?? texts.everything} /> },
    { name: texts.columns.limits, cell: ({ limits }) => limitTexts(limits).join(', ') || texts.unlimited },
    {
      name: texts.columns.expires,
      by: ({ expiresAt = '9' }) => expiresAt,
      cell: ({ expiresAt }) => (expiresAt === undefined ? common.common.never : <Time at={expiresAt} />),
    },
    { name: texts.columns.created, by: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: texts.columns.actions,
      cell: (key) => (
        <div class="actions">
          <Button of={key.name} onClick={() => open({ dialog: 'limits', key })}>
            {texts.details}
          </Button>
          <Button of={key.name} onClick={() => open({ dialog: 'edit-key', key })}>
            {common.common.edit}
          </Button>
          <Button of={key.name} onClick={() => open({ dialog: 'rotate', key })}>
            {texts.rotate}
          </Button>
          <Button
            of={key.name}
            onClick={() => run(() => api.value.keys.update(key.id, { isActive: key.isActive === false }))}
          >
            {key.isActive === false ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" of={key.name} onClick={() => open({ dialog: 'remove-key', key })}>
            {common.common.delete}
          </Button>
        </div>
      ),
    },
  ]
}

function groupColumns(keys: readonly PlainKey[], { open, run }: RowTerms): Column<Group>[] {
  const count = ({ id }: Group) => keys.filter(({ group }) => group === id).length
  return [
    {
      name: texts.columns.name,
      by: ({ name }) => name,
      cell: ({ name, id }) => (
        <span title={id}>
          <Text of={name} />
        </span>
      ),
    },
    { name: texts.columns.keys, isNumber: true, by: count, cell: count },
    {
      name: texts.columns.state,
      cell: ({ isActive }) => (
        <State kind={isActive === false ? 'off' : 'good'}>
          {isActive === false ? texts.states.paused : texts.states.active}
        </State>
      ),
    },
    { name: texts.columns.reach, cell: ({ models }) => <Text of={models?.join(', ') ?? texts.everything} /> },
    { name: texts.columns.limits, cell: ({ limits }) => limitTexts(limits).join(', ') || texts.unlimited },
    {
      name: texts.columns.actions,
      cell: (group) => (
        <div class="actions">
          <Button of={group.name} onClick={() => open({ dialog: 'group-limits', group })}>
            {texts.details}
          </Button>
          <Button of={group.name} onClick={() => open({ dialog: 'edit-group', group })}>
            {common.common.edit}
          </Button>
          <Button
            of={group.name}
            onClick={() => run(() => api.value.groups.update(group.id, { isActive: group.isActive === false }))}
          >
            {group.isActive === false ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" of={group.name} onClick={() => open({ dialog: 'remove-group', group })}>
            {common.common.delete}
          </Button>
        </div>
      ),
    },
  ]
}

interface OpenDialogProps {
  open: Open
  groups: readonly Group[]
  onClose: () => void
  onDone: () => void
  onMade: (name: string, value: string) => void
}

function OpenDialog({ open, groups, onClose, onDone, onMade }: OpenDialogProps) {
  const { keys, groups: groupApi } = api.value
  switch (open.dialog) {
    case 'new-key':
      return (
        <Dialog title={texts.new} onClose={onClose}>
          <OwnerForm
            groups={groups}
            onSave={async ({ name, ...more }) => {
              const { key } = await keys.create({ name, ...given(more) })
              onMade(name, key)
            }}
          />
        </Dialog>
      )
    case 'edit-key':
      return (
        <Dialog title={texts.form.key(open.key.name)} onClose={onClose}>
          <OwnerForm
            groups={groups}
            owner={open.key}
            onSave={(input) => keys.update(open.key.id, input).then(onDone)}
          />
        </Dialog>
      )
    case 'new-group':
      return (
        <Dialog title={texts.newGroup} onClose={onClose}>
          <OwnerForm
            onSave={({ name, limits, models }) => groupApi.create({ name, ...given({ limits, models }) }).then(onDone)}
          />
        </Dialog>
      )
    case 'edit-group':
      return (
        <Dialog title={texts.form.group(open.group.name)} onClose={onClose}>
          <OwnerForm
            owner={open.group}
            onSave={({ name, limits, models }) => groupApi.update(open.group.id, { name, limits, models }).then(onDone)}
          />
        </Dialog>
      )
    case 'remove-group':
      return (
        <RemoveDialog
          title={texts.remove.group(open.group.name)}
          text={texts.remove.groupText}
          remove={() => groupApi.delete(open.group.id)}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'remove-key':
      return <RemoveKeyDialog apiKey={open.key} onClose={onClose} onDone={onDone} />
    case 'rotate':
      return <RotateDialog apiKey={open.key} onClose={onClose} onMade={onMade} />
    case 'made':
      return <MadeDialog name={open.name} value={open.value} onClose={onClose} />
    case 'limits':
      return <LimitsDialog of="keys" id={open.key.id} name={open.key.name} onClose={onClose} />
    case 'group-limits':
      return <LimitsDialog of="groups" id={open.group.id} name={open.group.name} onClose={onClose} />
  }
}
