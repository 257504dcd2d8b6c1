import type { LimitState } from '../../../../types/limits.ts'
import { useChange, useData, useSignal } from '../page-data.ts'
import { formatDateTime, formatMoney, sanitize } from '../page-format.ts'
import { bindQuery, buildLink, route, setQuery } from '../route.ts'
import { api, changeRecord } from '../session.ts'
import { Await, Button, Problem, State, Time } from '../ui/basics.tsx'
import { isInCode, nameColumn } from '../ui/code-mark.tsx'
import { SelectField, TextField } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { NewKeyDialog, RemoveKeyDialog, RotateDialog } from './key-dialogs.tsx'
import { LimitsDialog, LimitUsage } from './limits-dialog.tsx'
import { OwnerForm, omitNulls } from './owner-form.tsx'

type KeyListItem = Awaited<ReturnType<typeof api.value.keys.list>>['keys'][number]
/** A key without its value. The page holds a key's value only while a dialog shows the new key. */
export type PlainKey = Exclude<KeyListItem, { key: string }>
export type Group = Awaited<ReturnType<typeof api.value.groups.list>>['groups'][number]

type OpenedDialog =
  | { dialog: 'new-key' | 'new-group' }
  | { dialog: 'edit-key' | 'rotate' | 'remove-key' | 'limits'; key: PlainKey }
  | { dialog: 'edit-group' | 'remove-group' | 'group-limits'; group: Group }
  | { dialog: 'made'; name: string; value: string }

/** Shows API keys and groups. */
export default function Keys() {
  const { state, reload } = useData(load)
  const openedDialog = useSignal<OpenedDialog | undefined>(undefined)
  const closeDialog = () => {
    openedDialog.value = undefined
  }
  const closeAndReload = () => {
    closeDialog()
    reload()
  }
  const change = useChange(reload)

  return (
    <Await of={state.value} onRetry={reload}>
      {({ keys, after, groups, usage, groupLimits }) => (
        <>
          <Filters groups={groups} onNew={() => (openedDialog.value = { dialog: 'new-key' })} />
          <Problem>{change.error.value}</Problem>
          <Table
            caption="Keys"
            columns={getKeyColumns(
              { groups, usage },
              { open: (dialog) => (openedDialog.value = dialog), run: change.run },
            )}
            rows={keys}
            getKey={({ id }) => id}
            empty={route.value.query.size === 0 ? 'No keys yet. Create one for each app or user.' : 'No results.'}
          />
          <p class="actions">
            {route.value.query.get('after') && <Button onClick={() => setQuery({ after: '' })}>First page</Button>}
            {after !== '' && <Button onClick={() => setQuery({ after })}>Next page</Button>}
          </p>
          <Section
            title="Groups"
            beside={
              <Button writes onClick={() => (openedDialog.value = { dialog: 'new-group' })}>
                Create group
              </Button>
            }
          >
            <Table
              caption="Groups"
              columns={getGroupColumns(groupLimits, {
                open: (dialog) => (openedDialog.value = dialog),
                run: change.run,
              })}
              rows={groups}
              getKey={({ id }) => id}
              empty="No groups yet. Group the keys of a customer, team, or plan to give them shared limits."
            />
          </Section>
          {openedDialog.value && (
            <OpenDialog
              open={openedDialog.value}
              groups={groups}
              onClose={closeDialog}
              onDone={closeAndReload}
              onCreated={(name, value) => {
                openedDialog.value = { dialog: 'made', name, value }
                reload()
              }}
            />
          )}
        </>
      )}
    </Await>
  )
}

const PAGE_SIZE = 50

async function load() {
  const { query } = route.value
  const filter = Object.fromEntries(
    ['q', 'group', 'account', 'state', 'after'].map((name) => [name, query.get(name) || undefined]),
  )
  const [{ keys, after = '' }, { groups }] = await Promise.all([
    api.value.keys.list({ ...filter, values: 'none', limit: PAGE_SIZE }),
    api.value.groups.list(),
  ])
  const ids = keys.map(({ id }) => id)
  const usage = ids.length > 0 ? await api.value.usage.keys({ ids }).catch(() => undefined) : undefined // `undefined` if the storage is unavailable
  const groupLimits = await loadGroupLimits(groups, usage?.keys ?? [])
  return { keys, after, groups, usage: new Map(usage?.keys.map((key) => [key.id, key])), groupLimits }
}

/** Maximum number of groups whose limits are read one by one. A listed key's usage already includes its group's limits. */
const MAX_GROUPS = 20

async function loadGroupLimits(groups: readonly Group[], keys: ReadonlyArray<{ limits: LimitState[] }>) {
  const knownLimits = keys.flatMap(({ limits }) => limits)
  const pickGroupFields = (id: string, states: readonly LimitState[]) =>
    states.filter((state) => state.scope === 'group' && state.id === id)
  const limitsByGroup = new Map(groups.map(({ id }) => [id, dedupeLimits(pickGroupFields(id, knownLimits))]))
  const remainingGroups = groups
    .filter(({ id, limits }) => limits && limitsByGroup.get(id)?.length === 0)
    .slice(0, MAX_GROUPS)
  const limitLoads = remainingGroups.map(async ({ id }) => {
    const { limits } = await api.value.groups.limits.get(id)
    limitsByGroup.set(id, pickGroupFields(id, limits))
  })
  await Promise.allSettled(limitLoads) // while the storage is unavailable, the table shows limits without their usage
  return limitsByGroup
}

/** Removes duplicates, because every key in a group reports the group's limits. */
const dedupeLimits = (states: readonly LimitState[]) => [
  ...new Map(states.map((state) => [`${state.unit} ${state.window}`, state])).values(),
]

function Filters({ groups, onNew }: { groups: readonly Group[]; onNew: () => void }) {
  const bindFilter = (name: string) => bindQuery(name, undefined, { after: '' }) // a new filter starts on the first page
  return (
    <div class="tools">
      <TextField label="Name or ID" type="search" of={bindFilter('q')} />
      <SelectField
        label="Group"
        of={bindFilter('group')}
        options={[['', 'All groups'], ...groups.map(({ id, name }) => [id, name] as const)]}
      />
      <SelectField
        label="Status"
        of={bindFilter('state')}
        options={[['', 'All'], ...Object.entries(stateLabels).slice(0, 3)]}
      />
      <span class="grow" />
      <Button writes kind="primary" onClick={onNew}>
        Create key
      </Button>
    </div>
  )
}

const stateLabels = { active: 'Active', paused: 'Paused', expired: 'Expired', rejected: 'Rejected' } as const

function getState({ error, isActive, expiresAt }: PlainKey): keyof typeof stateLabels {
  if (error !== undefined) return 'rejected'
  if (isActive === false) return 'paused'
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

const stateKinds = { active: 'good', paused: 'off', expired: 'warn', rejected: 'bad' } as const

const formatModels = ({ models }: PlainKey | Group) => models?.join(', ') ?? 'All models'

type KeyUsage = ReturnType<Usage['get']>

const formatSpend = (usage: KeyUsage) =>
  usage?.costUsd === undefined ? '' : `${usage.unpriced ? '≥ ' : ''}${formatMoney(usage.costUsd)}`

interface RowActions {
  open: (dialog: OpenedDialog) => void
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

type Usage = Awaited<ReturnType<typeof load>>['usage']
type GroupLimits = Awaited<ReturnType<typeof load>>['groupLimits']

function getKeyColumns(
  { groups, usage }: { groups: readonly Group[]; usage: Usage },
  { open, run }: RowActions,
): Column<PlainKey>[] {
  const groupName = ({ group }: PlainKey) => groups.find(({ id }) => id === group)?.name ?? group ?? ''
  return [
    {
      name: 'Name',
      cell: ({ id, name }) => (
        <a href={buildLink('usage', '', { keyId: id, by: 'model', days: 'month' })} title={id}>
          {sanitize(name)}
        </a>
      ),
    },
    { name: 'Group', cell: groupName },
    {
      name: 'Status',
      cell: (key) => (
        <span title={key.error}>
          <State kind={stateKinds[getState(key)]}>{stateLabels[getState(key)]}</State>
        </span>
      ),
    },
    { name: 'Allowed models', cell: formatModels },
    { name: 'Spend this month', isNumber: true, cell: ({ id }) => formatSpend(usage.get(id)) },
    {
      name: 'Limits',
      cell: (key) => (
        <LimitUsage limits={key.limits} states={usage.get(key.id)?.limits.filter(({ scope }) => scope === 'key')} />
      ),
    },
    {
      name: 'Last used',
      cell: ({ id }) => {
        const { requests, lastUsedAt } = usage.get(id) ?? {}
        if (lastUsedAt === undefined) return requests === undefined ? '' : 'Not in 30 days'
        return (
          <a href={buildLink('requests', '', { keyId: id })}>
            <Time time={lastUsedAt} />
          </a>
        )
      },
    },
    {
      name: 'Expires',
      cell: ({ expiresAt, createdAt }) => (
        <span title={`Created ${formatDateTime(createdAt)}`}>
          {expiresAt === undefined ? 'Never' : <Time time={expiresAt} />}
        </span>
      ),
    },
    {
      name: 'Actions',
      cell: (key) => (
        <div class="actions">
          <Button of={key.name} onClick={() => open({ dialog: 'limits', key })}>
            Limits
          </Button>
          <Button writes of={key.name} onClick={() => open({ dialog: 'edit-key', key })}>
            Edit
          </Button>
          <Button writes of={key.name} onClick={() => open({ dialog: 'rotate', key })}>
            Rotate
          </Button>
          <Button
            writes
            of={key.name}
            onClick={() => run(() => api.value.keys.update(key.id, { isActive: key.isActive === false }))}
          >
            {key.isActive === false ? 'Resume' : 'Pause'}
          </Button>
          <Button kind="danger" of={key.name} onClick={() => open({ dialog: 'remove-key', key })}>
            Delete
          </Button>
        </div>
      ),
    },
  ]
}

function getGroupColumns(groupLimits: GroupLimits, { open, run }: RowActions): Column<Group>[] {
  return [
    nameColumn,
    { name: 'Keys', cell: ({ id }) => <a href={buildLink('keys', '', { group: id })}>View keys</a> },
    {
      name: 'Status',
      cell: ({ isActive }) => (
        <State kind={isActive === false ? 'off' : 'good'}>{isActive === false ? 'Paused' : 'Active'}</State>
      ),
    },
    { name: 'Allowed models', cell: formatModels },
    { name: 'Limits', cell: ({ id, limits }) => <LimitUsage limits={limits} states={groupLimits.get(id)} /> },
    {
      name: 'Actions',
      cell: (group) => (
        <div class="actions">
          <Button of={group.name} onClick={() => open({ dialog: 'group-limits', group })}>
            Limits
          </Button>
          {!isInCode(group) && (
            <>
              <Button writes of={group.name} onClick={() => open({ dialog: 'edit-group', group })}>
                Edit
              </Button>
              <Button
                writes
                of={group.name}
                onClick={() => run(() => api.value.groups.update(group.id, { isActive: group.isActive === false }))}
              >
                {group.isActive === false ? 'Resume' : 'Pause'}
              </Button>
              <Button kind="danger" of={group.name} onClick={() => open({ dialog: 'remove-group', group })}>
                Delete
              </Button>
            </>
          )}
        </div>
      ),
    },
  ]
}

interface OpenDialogProps {
  open: OpenedDialog
  groups: readonly Group[]
  onClose: () => void
  onDone: () => void
  onCreated: (name: string, value: string) => void
}

function OpenDialog({ open, groups, onClose, onDone, onCreated }: OpenDialogProps) {
  const { keys, groups: groupApi } = api.value
  switch (open.dialog) {
    case 'new-key':
      return (
        <Dialog title="Create key" onClose={onClose}>
          <OwnerForm
            of="key"
            groups={groups}
            onSave={async ({ name, ...rest }) => {
              const { key } = await keys.create({ name, ...omitNulls(rest) })
              onCreated(name, key)
            }}
          />
        </Dialog>
      )
    case 'edit-key':
      return (
        <Dialog title={`Edit key "${open.key.name}"`} onClose={onClose}>
          <OwnerForm
            of="key"
            groups={groups}
            owner={open.key}
            onSave={(input) =>
              changeRecord(open.key, (options) => keys.update(open.key.id, input, options), input).then(onDone)
            }
          />
        </Dialog>
      )
    case 'new-group':
      return (
        <Dialog title="Create group" onClose={onClose}>
          <OwnerForm
            of="group"
            onSave={({ name, ...rest }) => groupApi.create({ name, ...omitNulls(rest) }).then(onDone)}
          />
        </Dialog>
      )
    case 'edit-group':
      return (
        <Dialog title={`Edit group "${open.group.name}"`} onClose={onClose}>
          <OwnerForm
            of="group"
            owner={open.group}
            onSave={(input) =>
              changeRecord(open.group, (options) => groupApi.update(open.group.id, input, options), input).then(onDone)
            }
          />
        </Dialog>
      )
    case 'remove-group':
      return (
        <RemoveDialog
          title={`Delete group "${open.group.name}"?`}
          text="You can delete a group only after deleting or moving all of its keys."
          record={open.group}
          remove={(options) => groupApi.delete(open.group.id, options)}
          onClose={onClose}
          onDone={onDone}
        />
      )
    case 'remove-key':
      return <RemoveKeyDialog apiKey={open.key} onClose={onClose} onDone={onDone} />
    case 'rotate':
      return <RotateDialog apiKey={open.key} onClose={onClose} onCreated={onCreated} />
    case 'made':
      return <NewKeyDialog name={open.name} value={open.value} onClose={onClose} />
    case 'limits':
      return <LimitsDialog of="keys" id={open.key.id} name={open.key.name} onClose={onClose} />
    case 'group-limits':
      return <LimitsDialog of="groups" id={open.group.id} name={open.group.name} onClose={onClose} />
  }
}
