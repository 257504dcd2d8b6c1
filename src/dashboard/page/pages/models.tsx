import type { Kind } from '../../../types/catalog.ts'
import { kinds } from '../../../types/unions.ts'
import { useAction, useChange, useLoaded, useSignal } from '../data.ts'
import { money } from '../format.ts'
import { inQuery, route } from '../route.ts'
import { api, changing } from '../session.ts'
import { common } from '../texts/frame.ts'
import * as texts from '../texts/models.ts'
import { Await, Button, Form, NumberField, Problem, Section, SelectField, TextField } from '../ui/basics.tsx'
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
          <Section title={texts.published}>
            <p class="hint">{texts.hint}</p>
            <div class="tools">
              <TextField label={texts.search} type="search" of={inQuery('q')} />
            </div>
            <Table
              caption={texts.published}
              columns={publishedColumns}
              rows={published.filter(({ id }) => id.toLowerCase().includes(q))}
              keyOf={({ id }) => id}
              empty={published.length === 0 ? texts.none : common.nothing}
            />
          </Section>
          <CustomModels custom={custom} onChange={reload} />
        </>
      )}
    </Await>
  )
}

const publishedColumns: Column<Published>[] = [
  { name: texts.columnId, by: ({ id }) => id, cell: ({ id }) => id },
  { name: texts.columnOwner, by: (model) => model.owned_by, cell: (model) => model.owned_by },
]

function CustomModels({ custom, onChange }: { custom: readonly Custom[]; onChange: () => void }) {
  const { run, error } = useChange(onChange)
  const provider = useSignal('')
  const id = useSignal('')
  const kind = useSignal<Kind>('llm')
  const input = useSignal('')
  const output = useSignal('')
  const adding = useAction(async () => {
    const prices = {
      ...(input.value !== '' && { input: Number(input.value) }),
      ...(output.value !== '' && { output: Number(output.value) }),
    }
    const model = { providerAlias: provider.value.trim(), id: id.value.trim(), type: kind.value }
    await api.value.customModels.create({ ...model, ...(Object.keys(prices).length > 0 && { prices }) } as never) // the gateway checks it
    id.value = ''
    onChange()
  })
  const price = (value: number | undefined) => (value === undefined ? '' : money(value))
  const columns: Column<Custom>[] = [
    {
      name: texts.columnId,
      by: (model) => model.id,
      cell: (model) => `${model.providerAlias}/${model.id}`,
    },
    { name: texts.columnKind, cell: ({ type = 'llm' }) => type },
    { name: texts.columnInput, isNumber: true, cell: ({ prices }) => price(prices?.input) },
    { name: texts.columnOutput, isNumber: true, cell: ({ prices }) => price(prices?.output) },
    {
      name: texts.columnActions,
      cell: (model) => (
        <Button
          kind="danger"
          of={model.id}
          onClick={() =>
            run(() =>
              changing(model, (options) => api.value.customModels.delete(model.providerAlias, model.id, options)),
            )
          }
        >
          {common.delete}
        </Button>
      ),
    },
  ]
  return (
    <Section title={texts.custom}>
      <p class="hint">{texts.customHint}</p>
      <Problem>{error.value}</Problem>
      <Table
        caption={texts.custom}
        columns={columns}
        rows={custom}
        keyOf={(model) => `${model.providerAlias}/${model.id}`}
        empty={texts.noCustom}
      />
      <Form of={adding} submit={texts.formAdd} isRow>
        <TextField label={texts.formProvider} required of={provider} />
        <TextField label={texts.formId} required of={id} />
        <SelectField label={texts.formKind} of={kind} options={kinds} />
        <NumberField label={texts.formInput} of={input} />
        <NumberField label={texts.formOutput} of={output} />
      </Form>
    </Section>
  )
}
