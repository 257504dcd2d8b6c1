import { useChange, useLoaded, useSignal } from '../data.ts'
import { shown } from '../format.ts'
import { limitTexts } from '../limits.ts'
import { inQuery, linkTo, route, setQuery } from '../route.ts'
import { api, changing } from '../session.ts'
import { common, pages } from '../texts/frame.ts'
import * as texts from '../texts/keys.ts'
import { Await, Button, Problem, State, Time } from '../ui/basics.tsx'
import { SelectField, TextField } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
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
  const change = useChange(reload)

  return (
    <Await of={state.value} onRetry={reload}>
      {({ keys, after, groups }) => (
        <>
          <Filters groups={groups} onNew={() => (open.value = { dialog: 'new-key' })} />
          <Problem>{change.error.value}</Problem>
          <Table
            caption={pages.keys}
            columns={keyColumns(groups, { open: (dialog) => (open.value = dialog), run: change.run })}
            rows={keys}
            keyOf={({ id }) => id}
            empty={route.value.query.size === 0 ? texts.empty : common.nothing}
          />
          <p class="actions">
            {route.value.query.get('after') && <Button onClick={() => setQuery({ after: '' })}>{common.first}</Button>}
            {after !== '' && <Button onClick={() => setQuery({ after })}>{common.next}</Button>}
          </p>
          <Section
            title={texts.groups}
            beside={
              <Button writes onClick={() => (open.value = { dialog: 'new-group' })}>
                {texts.newGroup}
              </Button>
            }
          >
            <Table
              caption={texts.groups}
              columns={groupColumns({ open: (dialog) => (open.value = dialog), run: change.run })}
              rows={groups}
              keyOf={({ id }) => id}
              empty={texts.noGroups}
            />
          </Section>
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

/** The most keys that are shown at once; the gateway searches. */
const PAGE = 50

async function load() {
  const { query } = route.value
  const filter = Object.fromEntries(
    ['q', 'group', 'state', 'after'].flatMap((name) => [[name, query.get(name) || undefined]]),
  )
  const [{ keys, after = '' }, { groups }] = await Promise.all([
    api.value.keys.list({ ...filter, values: 'none', limit: PAGE }),
    api.value.groups.list(),
  ])
  return { keys, after, groups }
}

function Filters({ groups, onNew }: { groups: readonly Group[]; onNew: () => void }) {
  const filter = (name: string) => inQuery(name, undefined, { after: '' }) // another filter begins with its first page
  return (
    <div class="tools">
      <TextField label={texts.search} type="search" of={filter('q')} />
      <SelectField
        label={texts.columnGroup}
        of={filter('group')}
        options={[['', texts.allGroups], ...groups.map(({ id, name }) => [id, name] as const)]}
      />
      <SelectField
        label={texts.columnState}
        of={filter('state')}
        options={[['', texts.allStates], ...Object.entries(texts.states).slice(0, 3)]}
      />
      <span class="grow" />
      <Button writes kind="primary" onClick={onNew}>
        {texts.newOne}
      </Button>
    </div>
  )
}

function stateOf({ error, isActive, expiresAt }: PlainKey): keyof typeof texts.states {
  if (error !== undefined) return 'refused'
  if (isActive === false) return 'paused'
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

const kinds = { active: 'good', paused: 'off', expired: 'warn', refused: 'bad' } as const

const withId = ({ name, id }: PlainKey | Group) => <span title={id}>{shown(name)}</span>
const reachOf = ({ models }: PlainKey | Group) => models?.join(', ') ?? texts.everything
const limitsOf = ({ limits }: PlainKey | Group) => limitTexts(limits).join(', ') || texts.unlimited

interface RowTerms {
  open: (dialog: Open) => void
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

function keyColumns(groups: readonly Group[], { open, run }: RowTerms): Column<PlainKey>[] {
  const groupName = ({ group }: PlainKey) => groups.find(({ id }) => id === group)?.name ?? group ?? ''
  return [
    {
      name: texts.columnName,
      cell: withId,
    },
    { name: texts.columnGroup, cell: groupName },
    {
      name: texts.columnState,
      cell: (key) => (
        <span title={key.error}>
          <State kind={kinds[stateOf(key)]}>{texts.states[stateOf(key)]}</State>
        </span>
      ),
    },
    { name: texts.columnReach, cell: reachOf },
    { name: texts.columnLimits, cell: limitsOf },
    {
      name: texts.columnExpires,
      cell: ({ expiresAt }) => (expiresAt === undefined ? common.never : <Time at={expiresAt} />),
    },
    { name: texts.columnCreated, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: texts.columnActions,
      cell: (key) => (
        <div class="actions">
          <Button of={key.name} onClick={() => open({ dialog: 'limits', key })}>
            {texts.details}
          </Button>
          <Button writes of={key.name} onClick={() => open({ dialog: 'edit-key', key })}>
            {common.edit}
          </Button>
          <Button writes of={key.name} onClick={() => open({ dialog: 'rotate', key })}>
            {texts.rotate}
          </Button>
          <Button
            writes
            of={key.name}
            onClick={() => run(() => api.value.keys.update(key.id, { isActive: key.isActive === false }))}
          >
            {key.isActive === false ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" of={key.name} onClick={() => open({ dialog: 'remove-key', key })}>
            {common.delete}
          </Button>
        </div>
      ),
    },
  ]
}

function groupColumns({ open, run }: RowTerms): Column<Group>[] {
  return [
    {
      name: texts.columnName,
      by: ({ name }) => name,
      cell: withId,
    },
    { name: texts.columnKeys, cell: ({ id }) => <a href={linkTo('keys', '', { group: id })}>{texts.ofGroup}</a> },
    {
      name: texts.columnState,
      cell: ({ isActive }) => (
        <State kind={isActive === false ? 'off' : 'good'}>
          {isActive === false ? texts.states.paused : texts.states.active}
        </State>
      ),
    },
    { name: texts.columnReach, cell: reachOf },
    { name: texts.columnLimits, cell: limitsOf },
    {
      name: texts.columnActions,
      cell: (group) => (
        <div class="actions">
          <Button of={group.name} onClick={() => open({ dialog: 'group-limits', group })}>
            {texts.details}
          </Button>
          <Button writes of={group.name} onClick={() => open({ dialog: 'edit-group', group })}>
            {common.edit}
          </Button>
          <Button
            writes
            of={group.name}
            onClick={() => run(() => api.value.groups.update(group.id, { isActive: group.isActive === false }))}
          >
            {group.isActive === false ? texts.resume : texts.pause}
          </Button>
          <Button kind="danger" of={group.name} onClick={() => open({ dialog: 'remove-group', group })}>
            {common.delete}
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
        <Dialog title={texts.newOne} onClose={onClose}>
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
        <Dialog title={texts.formKey(open.key.name)} onClose={onClose}>
          <OwnerForm
            groups={groups}
            owner={open.key}
            onSave={(input) =>
              changing(open.key, (options) => keys.update(open.key.id, input, options), input).then(onDone)
            }
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
        <Dialog title={texts.formGroup(open.group.name)} onClose={onClose}>
          <OwnerForm
            owner={open.group}
            onSave={({ name, limits, models }) => {
              const input = { name, limits, models }
              return changing(open.group, (options) => groupApi.update(open.group.id, input, options), input).then(
                onDone,
              )
            }}
          />
        </Dialog>
      )
    case 'remove-group':
      return (
        <RemoveDialog
          title={texts.removeGroup(open.group.name)}
          text={texts.removeGroupText}
          record={open.group}
          remove={(options) => groupApi.delete(open.group.id, options)}
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
