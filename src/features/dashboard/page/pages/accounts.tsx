import { ClientError } from '../../../../client/client.ts'
import { useChange, useData, useSignal } from '../page-data.ts'
import { formatDay, formatMoney, sanitize } from '../page-format.ts'
import { bindQuery, buildLink, route, setQuery } from '../route.ts'
import { api } from '../session.ts'
import { Await, Button, Problem, State } from '../ui/basics.tsx'
import { SelectField, TextField } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import type { Group } from './keys.tsx'
import { LimitsDialog, LimitUsage } from './limits-dialog.tsx'
import { OwnerForm, omitNulls } from './owner-form.tsx'

type Account = Awaited<ReturnType<typeof api.value.accounts.get>>

type OpenedDialog = { dialog: 'new' } | { dialog: 'edit' | 'limits' | 'remove'; account: Account }

/** Shows the accounts of your app's users and customers. */
export default function Accounts() {
  const { state, reload } = useData(load)
  const openedDialog = useSignal<OpenedDialog | undefined>(undefined)
  const closeDialog = () => {
    openedDialog.value = undefined
  }
  const change = useChange(reload)

  return (
    <Await of={state.value} onRetry={reload}>
      {({ accounts, after, groups, ...figures }) => (
        <>
          <Filters groups={groups} onNew={() => (openedDialog.value = { dialog: 'new' })} />
          <Problem>{change.error.value}</Problem>
          <Table
            caption="Accounts"
            columns={getColumns(
              { groups, ...figures },
              { open: (dialog) => (openedDialog.value = dialog), run: change.run },
            )}
            rows={accounts}
            getKey={({ ref }) => ref}
            empty={
              route.value.query.size === 0
                ? 'No accounts yet. Each user that your app names gets one with the first request.'
                : 'No results.'
            }
          />
          <p class="actions">
            {route.value.query.get('after') && <Button onClick={() => setQuery({ after: '' })}>First page</Button>}
            {after !== '' && <Button onClick={() => setQuery({ after })}>Next page</Button>}
          </p>
          {openedDialog.value && (
            <OpenDialog
              open={openedDialog.value}
              groups={groups}
              onClose={closeDialog}
              onDone={() => {
                closeDialog()
                reload()
              }}
            />
          )}
        </>
      )}
    </Await>
  )
}

const PAGE_SIZE = 25
/** Maximum number of accounts per usage query. */
const MAX_ROWS = 1_000

async function load() {
  const { query } = route.value
  const { accounts: accountApi, usage } = api.value
  const id = query.get('id') || undefined
  const filter = Object.fromEntries(
    ['state', 'plan', 'after'].flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])),
  )
  const listing = id === undefined ? accountApi.list({ ...filter, limit: PAGE_SIZE }) : findAccount(id)
  const now = new Date()
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString()
  const [{ accounts, after = '' }, { groups }, spent] = await Promise.all([
    listing,
    api.value.groups.list(),
    usage.summary({ from, by: 'account', top: MAX_ROWS }).catch(() => undefined), // fails, for example, if the storage is unavailable
  ])
  const limits = new Map<string, Awaited<ReturnType<typeof accountApi.limits.get>>['limits']>()
  const limitLoads = accounts.map(async ({ ref }) => void limits.set(ref, (await accountApi.limits.get(ref)).limits))
  await Promise.allSettled(limitLoads) // while the storage is unavailable, the table shows limits without their usage
  const spending = new Map(spent?.rows.map((row) => [row.account ?? '', row]))
  return { accounts, after, groups, spending, limits }
}

async function findAccount(id: string) {
  const account = await api.value.accounts.get(id).catch((error: unknown) => {
    if (error instanceof ClientError && error.status === 404) return undefined
    throw error
  })
  return { accounts: account ? [account] : [], after: '' }
}

function Filters({ groups, onNew }: { groups: readonly Group[]; onNew: () => void }) {
  const bindFilter = (name: string) => bindQuery(name, undefined, { after: '' }) // a new filter starts on the first page
  return (
    <div class="tools">
      <TextField label="Exact ID or ref" type="search" of={bindFilter('id')} />
      <SelectField
        label="Plan"
        of={bindFilter('plan')}
        options={[['', 'All plans'], ...groups.map(({ id, name }) => [id, name] as const)]}
      />
      <SelectField
        label="Status"
        of={bindFilter('state')}
        options={[
          ['', 'All'],
          ['active', 'Active'],
          ['paused', 'Paused'],
        ]}
      />
      <span class="grow" />
      <Button writes kind="primary" onClick={onNew}>
        Add account
      </Button>
    </div>
  )
}

type Figures = Pick<Awaited<ReturnType<typeof load>>, 'groups' | 'spending' | 'limits'>

interface RowActions {
  open: (dialog: OpenedDialog) => void
  run: (act: () => Promise<unknown>) => Promise<boolean>
}

const getTitle = ({ name, id }: Account) => name ?? id

function getColumns({ groups, spending, limits }: Figures, { open, run }: RowActions): Column<Account>[] {
  const { accounts: accountApi } = api.value
  return [
    {
      name: 'Name or ID',
      cell: (account) => (
        <a
          href={buildLink('usage', '', { account: account.ref, by: 'model', days: 'month' })}
          title={`${account.id} (${account.ref})`}
        >
          {sanitize(getTitle(account))}
        </a>
      ),
    },
    { name: 'Plan', cell: ({ plan }) => groups.find(({ id }) => id === plan)?.name ?? plan ?? '' },
    {
      name: 'Status',
      cell: ({ error, isActive }) => (
        <span title={error}>
          <State kind={error !== undefined ? 'bad' : isActive ? 'good' : 'off'}>
            {error !== undefined ? 'Rejected' : isActive ? 'Active' : 'Paused'}
          </State>
        </span>
      ),
    },
    {
      name: 'Spend this month',
      isNumber: true,
      cell: ({ ref }) => {
        const { costUsd, unpriced } = spending.get(ref) ?? {}
        return costUsd === undefined ? '' : `${unpriced ? '≥ ' : ''}${formatMoney(costUsd)}`
      },
    },
    {
      name: 'Limits',
      cell: (account) => (
        <LimitUsage
          limits={account.limits}
          states={limits.get(account.ref)?.filter(({ scope }) => scope === 'account')}
        />
      ),
    },
    {
      name: 'Last seen',
      cell: ({ ref, seenOn }) =>
        seenOn !== undefined && <a href={buildLink('requests', '', { account: ref })}>{formatDay(seenOn)}</a>,
    },
    { name: 'Keys', cell: ({ ref }) => <a href={buildLink('keys', '', { account: ref })}>View keys</a> },
    {
      name: 'Actions',
      cell: (account) => {
        const { ref, isActive } = account
        const title = getTitle(account)
        return (
          <div class="actions">
            <Button of={title} onClick={() => open({ dialog: 'limits', account })}>
              Limits
            </Button>
            <Button writes of={title} onClick={() => open({ dialog: 'edit', account })}>
              Edit
            </Button>
            <Button writes of={title} onClick={() => run(() => accountApi.revoke(ref))}>
              Revoke tokens
            </Button>
            <Button
              writes
              of={title}
              onClick={() => run(() => (isActive ? accountApi.pause(ref) : accountApi.resume(ref)))}
            >
              {isActive ? 'Pause' : 'Resume'}
            </Button>
            <Button kind="danger" of={title} onClick={() => open({ dialog: 'remove', account })}>
              Delete
            </Button>
          </div>
        )
      },
    },
  ]
}

interface OpenDialogProps {
  open: OpenedDialog
  groups: readonly Group[]
  onClose: () => void
  onDone: () => void
}

function OpenDialog({ open, groups, onClose, onDone }: OpenDialogProps) {
  const { accounts } = api.value
  if (open.dialog === 'new')
    return (
      <Dialog title="Add account" onClose={onClose}>
        <OwnerForm
          of="account"
          groups={groups}
          onSave={({ id = '', name, ...rest }) =>
            accounts.put({ id, ...omitNulls({ name: name || null, ...rest }) }).then(onDone)
          }
        />
      </Dialog>
    )
  const { account } = open
  const title = getTitle(account)
  switch (open.dialog) {
    case 'edit':
      return (
        <Dialog title={`Edit account "${title}"`} onClose={onClose}>
          <OwnerForm
            of="account"
            groups={groups}
            owner={account}
            onSave={({ name, ...rest }) => accounts.update(account.ref, { name: name || null, ...rest }).then(onDone)}
          />
        </Dialog>
      )
    case 'limits':
      return <LimitsDialog of="accounts" id={account.ref} name={title} onClose={onClose} />
    case 'remove':
      return (
        <RemoveDialog
          title={`Delete account "${title}"?`}
          text="This deletes its settings and counters. If your app names the account again, it is a new one. Delete its API keys first."
          record={account}
          remove={() => accounts.delete(account.ref)}
          onClose={onClose}
          onDone={onDone}
        />
      )
  }
}
