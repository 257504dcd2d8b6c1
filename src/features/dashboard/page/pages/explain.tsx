import { useAction, useSignal } from '../page-data.ts'
import { api } from '../session.ts'
import { Problem, Text } from '../ui/basics.tsx'
import { Form, TextArea, TextField } from '../ui/forms.tsx'
import { findKey, KeyField } from '../ui/key-field.tsx'
import { Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Explanation = Awaited<ReturnType<typeof api.value.explain>>
type Target = Explanation['targets'][number]

/** Shows where a request would go and why. */
export function Explain() {
  const model = useSignal('')
  const path = useSignal('/v1/chat/completions')
  const body = useSignal('')
  const key = useSignal('')
  const explanation = useSignal<Explanation | undefined>(undefined)
  const explainAction = useAction(async () => {
    explanation.value = undefined
    const requestBody: unknown = body.value.trim() === '' ? undefined : JSON.parse(body.value)
    const keyId = await findKey(key.value.trim())
    explanation.value = await api.value.explain({
      model: model.value.trim(),
      path: path.value.trim(),
      ...(keyId !== '' && { keyId }),
      ...(typeof requestBody === 'object' && requestBody !== null && { body: requestBody }),
    })
  })
  return (
    <Section title="Routing preview">
      <p class="hint">See where a request would go. No provider is called, and round-robin positions don’t change.</p>
      <Form of={explainAction} submit="Preview">
        <div class="row">
          <TextField label="Model" path="model" required of={model} />
          <TextField label="Path" path="path" of={path} />
          <KeyField label="API key" hint="Name or ID. Leave empty for a request without a key." path="keyId" of={key} />
        </div>
        <TextArea label="Request body (JSON, optional)" path="body" rows={3} class="mono" of={body} />
      </Form>
      {explanation.value && <ExplanationView explanation={explanation.value} />}
    </Section>
  )
}

function ExplanationView({ explanation: { route, targets, leftOut, error } }: { explanation: Explanation }) {
  return (
    <>
      <Problem>{error && `The client would get a ${error.status}: ${error.message}`}</Problem>
      {route?.models && (
        <p>
          <Text of={`Chosen by “route”: ${route.models.join(', ')}`} />
        </p>
      )}
      <Problem>{route?.error}</Problem>
      <Table
        caption="Routing preview"
        columns={columns}
        rows={targets}
        getKey={({ connectionId, model, via }) => `${connectionId} ${model} ${via}`}
        empty="No targets found."
      />
      {leftOut.length > 0 && (
        <>
          <h3>Excluded models</h3>
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

const targetUseLabels = {
  first: 'First',
  next: 'Next',
  beyond: 'Beyond max attempts',
  'last-resort': 'Last resort',
  skipped: 'Skipped',
} as const

const columns: Column<Target>[] = [
  { name: 'Order', cell: ({ use }) => targetUseLabels[use] },
  {
    name: 'Target',
    cell: ({ provider, model, connection }) => `${provider}/${model} (${connection})`,
  },
  { name: 'Reason', cell: ({ why }) => why },
  {
    name: 'Cache marks',
    cell: ({ promptCaching: caching }) => caching && (caching.stoodDown ?? caching.marks.join(', ')),
  },
  { name: 'Via', cell: ({ via }) => via },
]
