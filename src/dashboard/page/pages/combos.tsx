import { useAction, useChange, useLoaded, useSignal } from '../data.ts'
import { api, changing } from '../session.ts'
import * as texts from '../texts/combos.ts'
import { common } from '../texts/frame.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { Form, TextField } from '../ui/forms.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
import { Dialog, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { ComboForm } from './combo-form.tsx'
import { Explain } from './explain.tsx'

export type ShownCombo = Awaited<ReturnType<typeof api.value.combos.list>>['combos'][number]

type Open = { dialog: 'new' } | { dialog: 'edit' | 'remove'; combo: ShownCombo }

/** Combos, aliases, and where a request would go. */
export default function Combos() {
  const { state, reload } = useLoaded(load)
  const open = useSignal<Open | undefined>(undefined)
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
          {texts.newOne}
        </Button>
      </div>
      <Await of={state.value} onRetry={reload}>
        {({ combos, aliases }) => (
          <>
            <Table
              caption={texts.combos}
              columns={comboColumns((opened) => (open.value = opened))}
              rows={combos}
              keyOf={({ id }) => id}
              empty={texts.empty}
            />
            <Aliases aliases={aliases} onChange={reload} />
          </>
        )}
      </Await>
      <Explain />
      {open.value?.dialog === 'new' && (
        <Dialog title={texts.newOne} onClose={close}>
          <ComboForm onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'edit' && (
        <Dialog title={texts.formTitle(open.value.combo.name)} onClose={close}>
          <ComboForm combo={open.value.combo} onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'remove' && (
        <RemoveDialog
          title={texts.removeTitle(open.value.combo.name)}
          text={texts.removeText}
          record={open.value.combo}
          remove={removal(open.value.combo.id)}
          onClose={close}
          onDone={done}
        />
      )}
    </>
  )
}

async function load() {
  const [{ combos }, aliases] = await Promise.all([api.value.combos.list(), loadAliases()])
  return { combos, aliases }
}

const loadAliases = async (): Promise<Alias[]> =>
  Object.entries((await api.value.aliases.list()).aliases).map(([alias, model]) => ({ alias, model }))

const nameOf = (entry: ShownCombo['models'][number]) => (typeof entry === 'string' ? entry : entry.model)

const comboColumns = (open: (opened: Open) => void): Column<ShownCombo>[] => [
  { name: texts.columnName, by: ({ name }) => name, cell: ({ name }) => name },
  {
    name: texts.columnStrategy,
    by: ({ strategy }) => strategy,
    cell: ({ strategy }) => <span title={texts.strategies[strategy]}>{strategy}</span>,
  },
  { name: texts.columnModels, cell: ({ models }) => models.map(nameOf).join(' → ') },
  { name: texts.columnKind, cell: ({ kind = 'llm' }) => kind },
  {
    name: texts.columnActions,
    cell: (combo) => (
      <div class="actions">
        <Button writes of={combo.name} onClick={() => open({ dialog: 'edit', combo })}>
          {common.edit}
        </Button>
        <Button kind="danger" of={combo.name} onClick={() => open({ dialog: 'remove', combo })}>
          {common.delete}
        </Button>
      </div>
    ),
  },
]

interface Alias {
  alias: string
  model: string
}

function Aliases({ aliases, onChange }: { aliases: readonly Alias[]; onChange: () => void }) {
  const alias = useSignal('')
  const model = useSignal('')
  const newer = useSignal({ than: aliases, rows: aliases })
  const rows = newer.value.than === aliases ? newer.value.rows : aliases
  const { run, error } = useChange(onChange)
  const adding = useAction(async () => {
    const entered = { alias: alias.value.trim(), model: model.value.trim() }
    const rowIn = (all: readonly Alias[]) => all.find((row) => row.alias === entered.alias)
    const before = rowIn(rows)
    if (before) await changing(before, (options) => api.value.aliases.set(entered, options), entered)
    else {
      const now = await loadAliases()
      if (rowIn(now)) {
        newer.value = { than: aliases, rows: now } // with the error, since the next try is based on the table
        throw new Error(texts.aliasTaken)
      }
      await api.value.aliases.set(entered)
    }
    alias.value = ''
    model.value = ''
    onChange()
  })
  const columns: Column<Alias>[] = [
    { name: texts.columnAlias, by: (row) => row.alias, cell: (row) => row.alias },
    { name: texts.columnModel, by: (row) => row.model, cell: (row) => row.model },
    {
      name: texts.columnActions,
      cell: (row) => (
        <Button
          kind="danger"
          of={row.alias}
          onClick={() => run(() => changing(row, (options) => api.value.aliases.delete(row.alias, options)))}
        >
          {common.delete}
        </Button>
      ),
    },
  ]
  return (
    <Section title={texts.aliases}>
      <Problem>{error.value}</Problem>
      <Table caption={texts.aliases} columns={columns} rows={rows} keyOf={(row) => row.alias} empty={texts.noAliases} />
      <Form of={adding} submit={texts.aliasAdd} isRow>
        <TextField label={texts.aliasName} required of={alias} />
        <TextField label={texts.aliasModel} required of={model} />
      </Form>
    </Section>
  )
}

const removal = (id: string) => (options: object) => api.value.combos.delete(id, options)
