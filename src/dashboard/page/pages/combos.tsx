import { useAction, useLoaded, useSignal } from '../data.ts'
import { api } from '../session.ts'
import { texts } from '../texts/combos.ts'
import { texts as common } from '../texts/frame.ts'
import { Await, Button, Dialog, Problem, Text, TextField } from '../ui/basics.tsx'
import { RemoveDialog } from '../ui/remove-dialog.tsx'
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
          {texts.new}
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
        <Dialog title={texts.new} onClose={close}>
          <ComboForm onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'edit' && (
        <Dialog title={texts.form.title(open.value.combo.name)} onClose={close}>
          <ComboForm combo={open.value.combo} onSaved={done} />
        </Dialog>
      )}
      {open.value?.dialog === 'remove' && (
        <RemoveDialog
          title={texts.remove.title(open.value.combo.name)}
          text={texts.remove.text}
          remove={removal(open.value.combo.id)}
          onClose={close}
          onDone={done}
        />
      )}
    </>
  )
}

async function load() {
  const [{ combos }, { aliases }] = await Promise.all([api.value.combos.list(), api.value.aliases.list()])
  return { combos, aliases: Object.entries(aliases).map(([alias, model]) => ({ alias, model })) }
}

const nameOf = (entry: ShownCombo['models'][number]) => (typeof entry === 'string' ? entry : entry.model)

const comboColumns = (open: (opened: Open) => void): Column<ShownCombo>[] => [
  { name: texts.columns.name, by: ({ name }) => name, cell: ({ name }) => <Text of={name} /> },
  {
    name: texts.columns.strategy,
    by: ({ strategy }) => strategy,
    cell: ({ strategy }) => <span title={texts.strategies[strategy]}>{strategy}</span>,
  },
  { name: texts.columns.models, cell: ({ models }) => <Text of={models.map(nameOf).join(' → ')} /> },
  { name: texts.columns.kind, cell: ({ kind = 'llm' }) => <Text of={kind} /> },
  {
    name: texts.columns.actions,
    cell: (combo) => (
      <div class="actions">
        <Button writes of={combo.name} onClick={() => open({ dialog: 'edit', combo })}>
          {common.common.edit}
        </Button>
        <Button kind="danger" of={combo.name} onClick={() => open({ dialog: 'remove', combo })}>
          {common.common.delete}
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
  const { run, isBusy, error } = useAction(async (act: () => Promise<unknown>) => {
    await act()
    onChange()
  })
  const add = () =>
    run(async () => {
      await api.value.aliases.set({ alias: alias.value.trim(), model: model.value.trim() })
      alias.value = ''
      model.value = ''
    })
  const columns: Column<Alias>[] = [
    { name: texts.columns.alias, by: (row) => row.alias, cell: (row) => <Text of={row.alias} /> },
    { name: texts.columns.model, by: (row) => row.model, cell: (row) => <Text of={row.model} /> },
    {
      name: texts.columns.actions,
      cell: (row) => (
        <Button kind="danger" of={row.alias} onClick={() => run(() => api.value.aliases.delete(row.alias))}>
          {common.common.delete}
        </Button>
      ),
    },
  ]
  return (
    <section aria-labelledby="aliases">
      <h2 id="aliases">{texts.aliases}</h2>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Table
        caption={texts.aliases}
        columns={columns}
        rows={aliases}
        keyOf={(row) => row.alias}
        empty={texts.noAliases}
      />
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <TextField label={texts.alias.name} required value={alias.value} onInput={(value) => (alias.value = value)} />
        <TextField label={texts.alias.model} required value={model.value} onInput={(value) => (model.value = value)} />
        <div class="field">
          <Button writes type="submit" disabled={isBusy.value}>
            {texts.alias.add}
          </Button>
        </div>
      </form>
    </section>
  )
}

const removal = (id: string) => () => api.value.combos.delete(id)
