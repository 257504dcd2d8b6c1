import { useChange, useData } from '../page-data.ts'
import { api } from '../session.ts'
import { Await, Button, Problem, Text } from '../ui/basics.tsx'
import { Facts, Section } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

type Review = Awaited<ReturnType<typeof api.value.catalog.review>>
type HeldChange = Review['held'][number]

/** Shows the refreshed catalog and the changes on hold. Renders nothing if the catalog isn't refreshed. */
export function LivePrices() {
  const { state, reload } = useData(() => api.value.catalog.review())
  return (
    <Await of={state.value} onRetry={reload}>
      {(review) => review.isLive && <ReviewedPrices review={review} onChange={reload} />}
    </Await>
  )
}

function ReviewedPrices({ review, onChange }: { review: Review; onChange: () => void }) {
  const { run, error } = useChange(onChange)
  const { current, previous, held, rejected } = review
  const columns: Column<HeldChange>[] = [
    { name: 'Model', cell: ({ model }) => model },
    { name: 'Change', cell: ({ changes }) => changes.join(', ') },
  ]
  if (rejected === undefined)
    columns.push({
      name: 'Actions',
      cell: ({ model }) => (
        <Button writes of={model} onClick={() => run(() => api.value.catalog.accept({ models: [model] }))}>
          Accept
        </Button>
      ),
    })
  return (
    <Section title="Live prices">
      <Problem>{error.value ?? review.error}</Problem>
      <Facts
        of={[
          ['Prices in use', current ? `${current.asOf}, from ${current.source}` : 'The built-in catalog'],
          ['Version', current?.version],
          ['Previous prices', previous?.asOf],
        ]}
      />
      {rejected !== undefined && (
        <p class="notice">
          <Text of={`The latest prices weren’t applied: ${rejected}`} />
        </p>
      )}
      {held.length > 0 && (
        <p class="hint">
          {rejected === undefined
            ? 'These changes don’t apply until you accept them.'
            : 'If you accept the latest prices, these changes apply as well.'}
        </p>
      )}
      <Table
        caption="Changes that need your approval"
        columns={columns}
        rows={held}
        getKey={({ model }) => model}
        empty="No changes need your approval."
      />
      <p class="actions">
        <Button writes onClick={() => run(() => api.value.catalog.refresh())}>
          Refresh now
        </Button>
        {(held.length > 0 || rejected !== undefined) && (
          <Button writes onClick={() => run(() => api.value.catalog.accept({}))}>
            {rejected === undefined ? 'Accept all' : 'Accept the latest prices'}
          </Button>
        )}
        {current && (
          <Button writes kind="danger" onClick={() => run(() => api.value.catalog.rollback())}>
            Roll back
          </Button>
        )}
      </p>
    </Section>
  )
}
