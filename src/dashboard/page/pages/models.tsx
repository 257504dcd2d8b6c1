import type { Kind } from '../../../types/catalog.ts'
import { kinds } from '../../../types/unions.ts'
import { useAction, useChange, useLoaded, useSignal } from '../data.ts'
import { money, shortNumber } from '../format.ts'
import { inQuery, route, setQuery } from '../route.ts'
import { api, changing, uncheckedApi } from '../session.ts'
import { common } from '../texts/frame.ts'
import * as texts from '../texts/models.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { Form, NumberField, SelectField, TextField } from '../ui/forms.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Published = Awaited<ReturnType<typeof api.value.models.published>>['data'][number]
type Custom = Awaited<ReturnType<typeof api.value.customModels.list>>['models'][number]

/** What clients can ask for, and the models that the operator has added. */
export default function Models() {
  const { state, reload } = useLoaded(load)
  return (
    <Await of={state.value} onRetry={reload}>
      {({ published, after, custom }) => (
        <>
          <Section title={texts.published}>
            <p class="hint">{texts.hint}</p>
            <div class="tools">
              <TextField label={texts.search} type="search" of={filter('q')} />
              <SelectField
                label={texts.columnKind}
                of={filter('kinds')}
                options={[['', 'llm'], ['all', texts.all], ...kinds.slice(1).map((kind) => [kind, kind] as const)]}
              />
            </div>
            <Table
              caption={texts.published}
              columns={publishedColumns}
              rows={published}
              keyOf={({ id }) => id}
              empty={route.value.query.size === 0 ? texts.none : common.nothing}
            />
            <p class="actions">
              {route.value.query.get('after') && (
                <Button onClick={() => setQuery({ after: '' })}>{common.first}</Button>
              )}
              {after !== '' && <Button onClick={() => setQuery({ after })}>{common.next}</Button>}
            </p>
          </Section>
          <CustomModels custom={custom} onChange={reload} />
        </>
      )}
    </Await>
  )
}

/** The most models that are shown at once; the gateway searches. */
const PAGE = 200

async function load() {
  const { query } = route.value
  const asked = Object.fromEntries(['q', 'kinds', 'after'].map((name) => [name, query.get(name) || undefined]))
  const [{ data, after = '' }, { models }] = await Promise.all([
    uncheckedApi.value.models.published({ ...asked, limit: PAGE }),
    api.value.customModels.list(),
  ])
  return { published: data, after, custom: models }
}

/** Another filter begins with its first page. */
const filter = (name: string) => inQuery(name, undefined, { after: '' })

const price = (value: number | undefined) => (value === undefined ? '' : money(value))

/** Prices that are not of tokens of text, such as those of an image. */
const otherPrices = ({ price: all = {} }: Published) =>
  Object.entries(all)
    .filter(([of]) => !/^(?:input|output|cache)/.test(of))
    .flatMap(([of, usd]) => (typeof usd === 'number' ? [[of, usd] as const] : Object.entries(usd))) // of images by size
    .map(([of, usd]) => `${of}: ${money(usd)}`)
    .join(', ')

const publishedColumns: Column<Published>[] = [
  { name: texts.columnId, by: ({ id }) => id, cell: ({ id }) => id },
  { name: texts.columnOwner, by: (model) => model.owned_by, cell: (model) => model.owned_by },
  { name: texts.columnKind, by: ({ kind = '' }) => kind, cell: ({ kind }) => kind },
  {
    name: texts.columnInput,
    isNumber: true,
    by: (model) => model.price?.input ?? 0,
    cell: (model) => price(model.price?.input),
  },
  {
    name: texts.columnOutput,
    isNumber: true,
    by: (model) => model.price?.output ?? 0,
    cell: (model) => price(model.price?.output),
  },
  { name: texts.columnOther, cell: otherPrices },
  { name: texts.columnSource, cell: ({ priceSource }) => priceSource && texts.sources[priceSource] },
  {
    name: texts.columnWindow,
    isNumber: true,
    by: ({ contextWindow = 0 }) => contextWindow,
    cell: ({ contextWindow }) => contextWindow && shortNumber(contextWindow),
  },
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
    await api.value.customModels.create({ ...model, ...(Object.keys(prices).length > 0 && { prices }) })
    id.value = ''
    onChange()
  })
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
