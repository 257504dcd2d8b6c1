import { useAction, useSignal } from '../data.ts'
import { api } from '../session.ts'
import { texts } from '../texts/combos.ts'
import { Button, Field, Problem, Text, TextField } from '../ui/basics.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Explanation = Awaited<ReturnType<typeof api.value.explain>>
type Target = Explanation['targets'][number]

/** Where a request would go, and why not elsewhere. */
export function Explain() {
  const model = useSignal('')
  const path = useSignal('/v1/chat/completions')
  const body = useSignal('')
  const found = useSignal<Explanation | undefined>(undefined)
  const { run, isBusy, error } = useAction(async () => {
    found.value = undefined
    const given: unknown = body.value.trim() === '' ? undefined : JSON.parse(body.value)
    found.value = await api.value.explain({
      model: model.value.trim(),
      path: path.value.trim(),
      ...(typeof given === 'object' && given !== null && { body: given }),
    })
  })
  return (
    <section aria-labelledby="explain">
      <h2 id="explain">{texts.explain.title}</h2>
      <p class="hint">{texts.explain.hint}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <div class="row">
          <TextField
            label={texts.explain.model}
            required
            value={model.value}
            onInput={(value) => (model.value = value)}
          />
          <TextField label={texts.explain.path} value={path.value} onInput={(value) => (path.value = value)} />
        </div>
        <Field label={texts.explain.body}>
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              class="mono"
              value={body.value}
              onInput={({ currentTarget }) => (body.value = currentTarget.value)}
            />
          )}
        </Field>
        <Button writes type="submit" disabled={isBusy.value}>
          {texts.explain.button}
        </Button>
      </form>
      {error.value !== undefined && <Problem>{error.value}</Problem>}
      {found.value && <Explained explanation={found.value} />}
    </section>
  )
}

function Explained({ explanation: { targets, leftOut, error } }: { explanation: Explanation }) {
  return (
    <>
      {error && <Problem>{texts.explain.error(error.status, error.message)}</Problem>}
      <Table
        caption={texts.explain.title}
        columns={columns}
        rows={targets}
        keyOf={({ connectionId, model, via }) => `${connectionId} ${model} ${via}`}
        empty={texts.explain.nothing}
      />
      {leftOut.length > 0 && (
        <>
          <h3>{texts.explain.leftOut}</h3>
          <ul>
            {leftOut.map(({ combo, model, unmet }) => (
              <li key={`${combo} ${model}`}>
                <Text of={`${combo}: ${model} (${unmet})`} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

const columns: Column<Target>[] = [
  { name: texts.explain.columns.place, cell: ({ use }) => texts.explain.uses[use] },
  {
    name: texts.explain.columns.target,
    cell: ({ provider, model, connection }) => <Text of={`${provider}/${model} (${connection})`} />,
  },
  { name: texts.explain.columns.why, cell: ({ why }) => <Text of={why} /> },
  { name: texts.explain.columns.via, cell: ({ via = '' }) => <Text of={via} /> },
]
