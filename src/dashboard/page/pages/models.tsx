import { kinds } from '../../../types/unions.ts'
import { useAction, useLoaded, useSignal } from '../data.ts'
import { money } from '../format.ts'
import { route, setQuery } from '../route.ts'
import { api } from '../session.ts'
import { texts as common } from '../texts/frame.ts'
import { texts } from '../texts/models.ts'
import { Await, Button, NumberField, Problem, SelectField, Text, TextField } from '../ui/basics.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Published = Awaited<ReturnType<typeof api.value.models.published>>['data'][number]
type Custom = Awaited<ReturnType<typeof api.value.customModels.list>>['models'][number]

/** What clients can ask for, and the models that the operator has added. */
export default function Models() {
  const { state, reload } = useLoaded(async () => {
    const [{ data }, { models }] = await Promise.all([api.value.models.published(), api.value.customModels.list()])
    return { published: data, custom: models }
  })
  const q = (route.value.query.get('q') ?? '').toLowerCase()
  return (
    <Await of={state.value} onRetry={reload}>
      {({ published, custom }) => (
        <>
          <section aria-labelledby="published">
            <h2 id="published">{texts.published}</h2>
            <p class="hint">{texts.hint}</p>
            <div class="tools">
              <TextField label={texts.search} type="search" value={q} onInput={(value) => setQuery({ q: value })} />
            </div>
            <Table
              caption={texts.published}
              columns={publishedColumns}
              rows={published.filter(({ id }) => id.toLowerCase().includes(q))}
              keyOf={({ id }) => id}
              empty={published.length === 0 ? texts.none : common.common.nothing}
            />
          </section>
          <CustomModels custom={custom} onChange={reload} />
        </>
      )}
    </Await>
  )
}

const publishedColumns: Column<Published>[] = [
  { name: texts.columns.id, by: ({ id }) => id, cell: ({ id }) => <Text of={id} /> },
  { name: texts.columns.owner, by: (model) => model.owned_by, cell: (model) => <Text of={model.owned_by} /> },
]

function CustomModels({ custom, onChange }: { custom: readonly Custom[]; onChange: () => void }) {
  const { run, isBusy, error } = useAction(async (act: () => Promise<unknown>) => {
    await act()
    onChange()
  })
  const provider = useSignal('')
  const id = useSignal('')
  const kind = useSignal('llm')
  const input = useSignal('')
  const output = useSignal('')
  const add = () =>
    run(async () => {
      const prices = {
        ...(input.value !== '' && { input: Number(input.value) }),
        ...(output.value !== '' && { output: Number(output.value) }),
      }
      const model = { providerAlias: provider.value.trim(), id: id.value.trim(), type: kind.value }
      await api.value.customModels.create({ ...model, ...(Object.keys(prices).length > 0 && { prices }) } as never) // the gateway checks it
      id.value = ''
    })
  const price = (value: number | undefined) => (value === undefined ? '' : money(value))
  const columns: Column<Custom>[] = [
    {
      name: texts.columns.id,
      by: (model) => model.id,
      cell: (model) => <Text of={`${model.providerAlias}/${model.id}`} />,
    },
    { name: texts.columns.kind, cell: ({ type = 'llm' }) => <Text of={type} /> },
    { name: texts.columns.input, isNumber: true, cell: ({ prices }) => price(prices?.input) },
    { name: texts.columns.output, isNumber: true, cell: ({ prices }) => price(prices?.output) },
    {
      name: texts.columns.actions,
      cell: (model) => (
        <Button
          kind="danger"
          label={`${common.common.delete}: ${model.id}`}
          onClick={() => run(() => api.value.customModels.delete(model.providerAlias, model.id))}
        >
          {common.common.delete}
        </Button>
      ),
    },
  ]
  return (
    <section aria-labelledby="custom">
      <h2 id="custom">{texts.custom}</h2>
      <p class="hint">{texts.customHint}</p>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      <Table
        caption={texts.custom}
        columns={columns}
        rows={custom}
        keyOf={(model) => `${model.providerAlias}/${model.id}`}
        empty={texts.noCustom}
      />
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <TextField
          label={texts.form.provider}
          required
          value={provider.value}
          onInput={(value) => (provider.value = value)}
        />
        <TextField label={texts.form.id} required value={id.value} onInput={(value) => (id.value = value)} />
        <SelectField
          label={texts.form.kind}
          value={kind.value}
          options={kinds.map((one) => [one, one] as const)}
          onChange={(value) => (kind.value = value)}
        />
        <NumberField label={texts.form.input} value={input.value} onInput={(value) => (input.value = value)} />
        <NumberField label={texts.form.output} value={output.value} onInput={(value) => (output.value = value)} />
        <div class="field">
          <Button writes type="submit" disabled={isBusy.value}>
            {texts.form.add}
          </Button>
        </div>
      </form>
    </section>
  )
}
