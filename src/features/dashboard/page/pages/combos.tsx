import { kindLabels } from '../labels.ts'
import { useAction, useChange, useData, useSignal } from '../page-data.ts'
import { api, changeRecord } from '../session.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { isInCode, nameColumn, RecordName } from '../ui/code-mark.tsx'
import { Form, TextField, toLabel } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { ComboForm, strategyTraits } from './combo-form.tsx'
import { Explain } from './explain.tsx'

export type ComboView = Awaited<ReturnType<typeof api.value.combos.list>>['combos'][number]

type OpenedDialog = { dialog: 'new' } | { dialog: 'edit' | 'remove'; combo: ComboView }

/** Shows combos, aliases, and the routing preview. */
export default function Combos() {
  const { state, reload } = useData(load)
  const open = useSignal<OpenedDialog | undefined>(undefined)
  const close = () => {
    open.value = undefined
  }
  const done = () => {
    close()
    reload()
  }
  return (
    <>
      <div class="tools">
        <span class="grow" />
        <Button writes kind="primary" onClick={() => (open.value = { dialog: 'new' })}>
          Create combo
        </Button>
      </div>
      <Await of={state.value} onRetry={reload}>
        {({ combos, aliases, info }) => (
          <>
            <Table
              caption="Combos"
              columns={getComboColumns((opened) => (open.value = opened))}
              rows={combos}
              getKey={({ id }) => id}
              empty="No combos yet. A combo is a virtual model that routes requests across several models."
            />
            <Aliases aliases={aliases} inCode={info.definedInCode.aliases} onChange={reload} />
          </>
        )}
      </Await>
      <Explain />
      {open.value?.dialog === 'new' && (
        <Dialog title="Create combo" onClose={close}>
          <ComboForm onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'edit' && (
        <Dialog title={`Edit combo "${open.value.combo.name}"`} onClose={close}>
          <ComboForm combo={open.value.combo} onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'remove' && (
        <RemoveDialog
          title={`Delete combo "${open.value.combo.name}"?`}
          text="Requests for this name will fail with a 404."
          record={open.value.combo}
          remove={createRemoval(open.value.combo.id)}
          onClose={close}
          onDone={done}
        />
      )}
    </>
  )
}

async function load() {
  const [{ combos }, aliases, info] = await Promise.all([api.value.combos.list(), loadAliases(), api.value.info()])
  return { combos, aliases, info }
}

const loadAliases = async (): Promise<Alias[]> =>
  Object.entries((await api.value.aliases.list()).aliases).map(([alias, model]) => ({ alias, model }))

const getModelName = (entry: ComboView['models'][number]) => (typeof entry === 'string' ? entry : entry.model)

const getComboColumns = (open: (opened: OpenedDialog) => void): Column<ComboView>[] => [
  nameColumn,
  {
    name: 'Strategy',
    by: ({ strategy }) => strategy,
    cell: ({ strategy }) => <span title={strategyTraits[strategy][0]}>{toLabel(strategy)}</span>,
  },
  { name: 'Models', cell: ({ models }) => models.map(getModelName).join(' → ') },
  { name: 'Kind', cell: ({ kind = 'llm' }) => kindLabels[kind] },
  {
    name: 'Actions',
    cell: (combo) =>
      !isInCode(combo) && (
        <div class="actions">
          <Button writes of={combo.name} onClick={() => open({ dialog: 'edit', combo })}>
            Edit
          </Button>
          <Button kind="danger" of={combo.name} onClick={() => open({ dialog: 'remove', combo })}>
            Delete
          </Button>
        </div>
      ),
  },
]

interface Alias {
  alias: string
  model: string
}

interface AliasesProps {
  aliases: readonly Alias[]
  /** The names of aliases that are defined in code. */
  inCode: readonly string[]
  onChange: () => void
}

function Aliases({ aliases, inCode, onChange }: AliasesProps) {
  const alias = useSignal('')
  const model = useSignal('')
  const newer = useSignal({ than: aliases, rows: aliases })
  const rows = newer.value.than === aliases ? newer.value.rows : aliases
  const { run, error } = useChange(onChange)
  const adding = useAction(async () => {
    const entered = { alias: alias.value.trim(), model: model.value.trim() }
    const findRow = (all: readonly Alias[]) => all.find((row) => row.alias === entered.alias)
    const existing = findRow(rows)
    if (existing) await changeRecord(existing, (options) => api.value.aliases.set(entered, options), entered)
    else {
      const now = await loadAliases()
      if (findRow(now)) {
        newer.value = { than: aliases, rows: now } // a retry starts from the rows in the table
        throw new Error('Someone else just added this alias, as shown in the table. Add it again to replace it.')
      }
      await api.value.aliases.set(entered)
    }
    alias.value = ''
    model.value = ''
    onChange()
  })
  const columns: Column<Alias>[] = [
    {
      name: 'Alias',
      by: (row) => row.alias,
      cell: ({ alias }) => <RecordName of={alias} inCode={inCode.includes(alias)} />,
    },
    { name: 'Points to', by: (row) => row.model, cell: (row) => row.model },
    {
      name: 'Actions',
      cell: (row) =>
        !inCode.includes(row.alias) && (
          <Button
            kind="danger"
            of={row.alias}
            onClick={() => run(() => changeRecord(row, (options) => api.value.aliases.delete(row.alias, options)))}
          >
            Delete
          </Button>
        ),
    },
  ]
  return (
    <Section title="Aliases">
      <Problem>{error.value}</Problem>
      <Table
        caption="Aliases"
        columns={columns}
        rows={rows}
        getKey={(row) => row.alias}
        empty="No aliases yet. An alias is another name for a model or combo."
      />
      <Form of={adding} submit="Add alias" isRow>
        <TextField label="Alias" required of={alias} />
        <TextField label="Points to" required of={model} />
      </Form>
    </Section>
  )
}

const createRemoval = (id: string) => (options: object) => api.value.combos.delete(id, options)
