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
  const openedDialog = useSignal<OpenedDialog | undefined>(undefined)
  const closeDialog = () => {
    openedDialog.value = undefined
  }
  const closeAndReload = () => {
    closeDialog()
    reload()
  }
  return (
    <>
      <div class="tools">
        <span class="grow" />
        <Button writes kind="primary" onClick={() => (openedDialog.value = { dialog: 'new' })}>
          Create combo
        </Button>
      </div>
      <Await of={state.value} onRetry={reload}>
        {({ combos, aliases, info }) => (
          <>
            <Table
              caption="Combos"
              columns={getComboColumns((dialog) => (openedDialog.value = dialog))}
              rows={combos}
              getKey={({ id }) => id}
              empty="No combos yet. A combo is a virtual model that routes requests across several models."
            />
            <Aliases aliases={aliases} inCode={info.definedInCode.aliases} onChange={reload} />
          </>
        )}
      </Await>
      <Explain />
      {openedDialog.value?.dialog === 'new' && (
        <Dialog title="Create combo" onClose={closeDialog}>
          <ComboForm onSaved={closeAndReload} />
        </Dialog>
      )}
      {openedDialog.value?.dialog === 'edit' && (
        <Dialog title={`Edit combo "${openedDialog.value.combo.name}"`} onClose={closeDialog}>
          <ComboForm combo={openedDialog.value.combo} onSaved={closeAndReload} />
        </Dialog>
      )}
      {openedDialog.value?.dialog === 'remove' && (
        <RemoveDialog
          title={`Delete combo "${openedDialog.value.combo.name}"?`}
          text="Requests for this name will fail with a 404."
          record={openedDialog.value.combo}
          remove={createRemoval(openedDialog.value.combo.id)}
          onClose={closeDialog}
          onDone={closeAndReload}
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

const getComboColumns = (open: (dialog: OpenedDialog) => void): Column<ComboView>[] => [
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
  const reloadedAliases = useSignal({ than: aliases, rows: aliases })
  const rows = reloadedAliases.value.than === aliases ? reloadedAliases.value.rows : aliases
  const { run, error } = useChange(onChange)
  const addAction = useAction(async () => {
    const newAlias = { alias: alias.value.trim(), model: model.value.trim() }
    const findRow = (aliasRows: readonly Alias[]) => aliasRows.find((row) => row.alias === newAlias.alias)
    const existingAlias = findRow(rows)
    if (existingAlias)
      await changeRecord(existingAlias, (options) => api.value.aliases.set(newAlias, options), newAlias)
    else {
      const loadedAliases = await loadAliases()
      if (findRow(loadedAliases)) {
        reloadedAliases.value = { than: aliases, rows: loadedAliases } // a retry starts from the rows in the table
        throw new Error('Someone else just added this alias, as shown in the table. Add it again to replace it.')
      }
      await api.value.aliases.set(newAlias)
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
      <Form of={addAction} submit="Add alias" isRow>
        <TextField label="Alias" required of={alias} />
        <TextField label="Points to" required of={model} />
      </Form>
    </Section>
  )
}

const createRemoval = (id: string) => (options: object) => api.value.combos.delete(id, options)
