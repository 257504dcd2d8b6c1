import { useAction, useSignal } from '../data.ts'
import { api } from '../session.ts'
import * as texts from '../texts/combos.ts'
import { Problem, Text } from '../ui/basics.tsx'
import { Form, TextArea, TextField } from '../ui/forms.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Explanation = Awaited<ReturnType<typeof api.value.explain>>
type Target = Explanation['targets'][number]

/** Where a request would go, and why not elsewhere. */
export function Explain() {
  const model = useSignal('')
  const path = useSignal('/v1/chat/completions')
  const body = useSignal('')
  const found = useSignal<Explanation | undefined>(undefined)
  const asking = useAction(async () => {
    found.value = undefined
    const given: unknown = body.value.trim() === '' ? undefined : JSON.parse(body.value)
    found.value = await api.value.explain({
      model: model.value.trim(),
      path: path.value.trim(),
      ...(typeof given === 'object' && given !== null && { body: given }),
    })
  })
  return (
    <Section title={texts.explainTitle}>
      <p class="hint">{texts.explainHint}</p>
      <Form of={asking} submit={texts.explainButton}>
        <div class="row">
          <TextField label={texts.explainModel} required of={model} />
          <TextField label={texts.explainPath} of={path} />
        </div>
        <TextArea label={texts.explainBody} rows={3} class="mono" of={body} />
      </Form>
      {found.value && <Explained explanation={found.value} />}
    </Section>
  )
}

function Explained({ explanation: { targets, leftOut, error } }: { explanation: Explanation }) {
  return (
    <>
      <Problem>{error && texts.explainError(error.status, error.message)}</Problem>
      <Table
        caption={texts.explainTitle}
        columns={columns}
        rows={targets}
        keyOf={({ connectionId, model, via }) => `${connectionId} ${model} ${via}`}
        empty={texts.explainNothing}
      />
      {leftOut.length > 0 && (
        <>
          <h3>{texts.explainLeftOut}</h3>
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
  { name: texts.explainColumnPlace, cell: ({ use }) => texts.explainUses[use] },
  {
    name: texts.explainColumnTarget,
    cell: ({ provider, model, connection }) => `${provider}/${model} (${connection})`,
  },
  { name: texts.explainColumnWhy, cell: ({ why }) => why },
  { name: texts.explainColumnVia, cell: ({ via }) => via },
]
