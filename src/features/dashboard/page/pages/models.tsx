import type { Kind } from '../../../../types/catalog-types.ts'
import { kindLabels } from '../labels.ts'
import { useAction, useChange, useData, useSignal } from '../page-data.ts'
import { formatCompact, formatMoney } from '../page-format.ts'
import { bindQuery, route, setQuery } from '../route.ts'
import { api, changeRecord, uncheckedApi } from '../session.ts'
import { Await, Button, Problem } from '../ui/basics.tsx'
import { isInCode, RecordName } from '../ui/code-mark.tsx'
import { Form, NumberField, SelectField, TextField, toChoices } from '../ui/forms.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { LivePrices } from './live-prices.tsx'
import { tokenLabels } from './price-rows.tsx'

type PublishedModel = Awaited<ReturnType<typeof api.value.models.published>>['data'][number]
type CustomModel = Awaited<ReturnType<typeof api.value.customModels.list>>['models'][number]

/** Lists the models that clients can request and the operator's custom models. */
export default function Models() {
  const { state, reload } = useData(load)
  return (
    <Await of={state.value} onRetry={reload}>
      {({ published, after, custom }) => (
        <>
          <Section title="Available models">
            <p class="hint">
              Models that an unrestricted key can request. Prices are in USD, per million tokens or per unit.
            </p>
            <div class="tools">
              <TextField label="Name" type="search" of={bindFilter('q')} />
              <SelectField
                label="Kind"
                of={bindFilter('kinds')}
                options={[['', kindLabels.llm], ['all', 'All kinds'], ...toChoices(kindLabels).slice(1)]}
              />
            </div>
            <Table
              caption="Available models"
              columns={publishedColumns}
              rows={published}
              getKey={({ id }) => id}
              empty={route.value.query.size === 0 ? 'No models yet. Connect a provider first.' : 'No results.'}
            />
            <p class="actions">
              {route.value.query.get('after') && <Button onClick={() => setQuery({ after: '' })}>First page</Button>}
              {after !== '' && <Button onClick={() => setQuery({ after })}>Next page</Button>}
            </p>
          </Section>
          <CustomModels custom={custom} onChange={reload} />
          <LivePrices />
        </>
      )}
    </Await>
  )
}

const PAGE_SIZE = 200

async function load() {
  const { query } = route.value
  const filter = Object.fromEntries(['q', 'kinds', 'after'].map((name) => [name, query.get(name) || undefined]))
  const [{ data, after = '' }, { models }] = await Promise.all([
    uncheckedApi.value.models.published({ ...filter, limit: PAGE_SIZE }),
    api.value.customModels.list(),
  ])
  return { published: data, after, custom: models }
}

const bindFilter = (name: string) => bindQuery(name, undefined, { after: '' })

const formatPrice = (value: number | undefined) => (value === undefined ? '' : formatMoney(value))

const priceLabels: Readonly<Record<string, string>> = tokenLabels

/** Formats all prices except those for text tokens, such as prices for images and for requests with a long input. */
function formatOtherPrices({
  price: { images = {}, tiers = [], serviceTiers = {}, ...all } = {},
}: PublishedModel): string {
  const otherPrices = Object.entries(all).filter(([unit]) => !/^(?:input|output|cache)/.test(unit))
  const priceTexts = [...otherPrices, ...Object.entries(images)].map(
    ([unit, usd = 0]) => `${unit}: ${formatMoney(usd)}`,
  )
  const tierTexts = tiers.map(({ above, ...prices }) => {
    const texts = Object.entries(prices).map(
      ([unit, usd]) => `${priceLabels[unit]?.toLowerCase() ?? unit} ${formatMoney(usd)}`,
    )
    return `over ${formatCompact(above)} input tokens: ${texts.join(', ')}`
  })
  const serviceTexts = Object.entries(serviceTiers).map(([name, { tiers: _, ...prices }]) => {
    const texts = Object.entries(prices).map(
      ([unit, usd]) => `${priceLabels[unit]?.toLowerCase() ?? unit} ${formatMoney(usd)}`,
    )
    return `${name}: ${texts.join(', ')}`
  })
  return [...priceTexts, ...tierTexts, ...serviceTexts].join('; ')
}

const priceSources = { connection: 'Connection', customModel: 'Custom model', catalog: 'Catalog' } as const

const publishedColumns: Column<PublishedModel>[] = [
  { name: 'Name', by: ({ id }) => id, cell: ({ id }) => id },
  { name: 'Source', by: (model) => model.owned_by, cell: (model) => model.owned_by },
  { name: 'Kind', by: ({ kind = '' }) => kind, cell: ({ kind }) => kind && kindLabels[kind] },
  {
    name: 'Input',
    isNumber: true,
    by: (model) => model.price?.input ?? 0,
    cell: (model) => formatPrice(model.price?.input),
  },
  {
    name: 'Output',
    isNumber: true,
    by: (model) => model.price?.output ?? 0,
    cell: (model) => formatPrice(model.price?.output),
  },
  { name: 'Other prices', cell: formatOtherPrices },
  { name: 'Price source', cell: ({ priceSource }) => priceSource && priceSources[priceSource] },
  {
    name: 'Context window',
    isNumber: true,
    by: ({ contextWindow = 0 }) => contextWindow,
    cell: ({ contextWindow }) => contextWindow && formatCompact(contextWindow),
  },
]

function CustomModels({ custom, onChange }: { custom: readonly CustomModel[]; onChange: () => void }) {
  const { run, error } = useChange(onChange)
  const provider = useSignal('')
  const id = useSignal('')
  const kind = useSignal<Kind>('llm')
  const input = useSignal('')
  const output = useSignal('')
  const addAction = useAction(async () => {
    const prices = {
      ...(input.value !== '' && { input: Number(input.value) }),
      ...(output.value !== '' && { output: Number(output.value) }),
    }
    const model = { providerAlias: provider.value.trim(), id: id.value.trim(), type: kind.value }
    await api.value.customModels.create({ ...model, ...(Object.keys(prices).length > 0 && { prices }) })
    id.value = ''
    onChange()
  })
  const columns: Column<CustomModel>[] = [
    {
      name: 'Name',
      by: (model) => model.id,
      cell: (model) => <RecordName of={`${model.providerAlias}/${model.id}`} inCode={isInCode(model)} />,
    },
    { name: 'Kind', cell: ({ type = 'llm' }) => kindLabels[type] },
    { name: 'Input', isNumber: true, cell: ({ prices }) => formatPrice(prices?.input) },
    { name: 'Output', isNumber: true, cell: ({ prices }) => formatPrice(prices?.output) },
    {
      name: 'Actions',
      cell: (model) =>
        !isInCode(model) && (
          <Button
            kind="danger"
            of={model.id}
            onClick={() =>
              run(() =>
                changeRecord(model, (options) => api.value.customModels.delete(model.providerAlias, model.id, options)),
              )
            }
          >
            Delete
          </Button>
        ),
    },
  ]
  return (
    <Section title="Custom models">
      <p class="hint">
        Add models that aren’t in the catalog, or set your own prices. Prices are in USD per million tokens.
      </p>
      <Problem>{error.value}</Problem>
      <Table
        caption="Custom models"
        columns={columns}
        rows={custom}
        getKey={(model) => `${model.providerAlias}/${model.id}`}
        empty="No custom models yet."
      />
      <Form of={addAction} submit="Add model" isRow>
        <TextField label="Provider prefix or ID" required of={provider} />
        <TextField label="Model ID" required of={id} />
        <SelectField label="Kind" of={kind} options={toChoices(kindLabels)} />
        <NumberField label="Input price" of={input} />
        <NumberField label="Output price" of={output} />
      </Form>
    </Section>
  )
}
