import type { LimitState } from '../../../types/limits.ts'
import { useAction, useLoaded } from '../data.ts'
import { amountOf } from '../limits.ts'
import { api } from '../session.ts'
import { texts } from '../texts/keys.ts'
import { Await, Button, Dialog, Problem, Time } from '../ui/basics.tsx'
import { type Column, Table } from '../ui/table.tsx'

interface LimitsDialogProps {
  of: 'keys' | 'groups'
  id: string
  name: string
  onClose: () => void
}

/** What a key or a group may use, and what it has used. */
export function LimitsDialog({ of, id, name, onClose }: LimitsDialogProps) {
  const operations = () => (of === 'keys' ? api.value.keys.limits : api.value.groups.limits)
  const { state, reload } = useLoaded(async () => (await operations().get(id)).limits, { everyMs: 2_000 })
  const change = useAction(async (act: () => Promise<unknown>) => {
    await act()
    reload()
  })
  return (
    <Dialog title={texts.used.title(name)} onClose={onClose}>
      {change.error.value !== undefined && <Problem>{change.error.value}</Problem>}
      <Await of={state.value} onRetry={reload}>
        {(limits) =>
          limits.length === 0 ? (
            <p>{texts.used.none}</p>
          ) : (
            <>
              <Table caption={texts.used.title(name)} columns={columns} rows={limits} keyOf={keyOf} />
              <div class="actions">
                {limits.some(({ unsettled }) => unsettled > 0) && (
                  <>
                    <p class="hint">{texts.used.unsettledHint}</p>
                    <Button writes onClick={() => change.run(() => operations().settle(id, { as: 'spent' }))}>
                      {texts.used.settle}
                    </Button>
                    <Button writes onClick={() => change.run(() => operations().settle(id, { as: 'unspent' }))}>
                      {texts.used.free}
                    </Button>
                  </>
                )}
                <Button kind="danger" onClick={() => change.run(() => operations().reset(id))}>
                  {texts.used.reset}
                </Button>
              </div>
            </>
          )
        }
      </Await>
    </Dialog>
  )
}

const keyOf = ({ scope, unit, window }: LimitState) => `${scope} ${unit} ${window}`

const amount = (of: 'used' | 'reserved' | 'unsettled' | 'remaining') => (state: LimitState) =>
  amountOf(state.unit, state[of])

const columns: Column<LimitState>[] = [
  {
    name: texts.used.columns.limit,
    cell: ({ scope, unit, window, limit, remaining }) => (
      <>
        {amountOf(unit, limit)} {unit === 'usd' ? '' : texts.units[unit]} {window && texts.windows[window]}
        <br />
        <span class="hint">{texts.used.scopes[scope]}</span>
        <br />
        <meter
          min={0}
          max={limit}
          value={limit - remaining}
          high={limit * 0.9}
          optimum={0}
          aria-label={texts.used.columns.used}
        />
      </>
    ),
  },
  { name: texts.used.columns.used, isNumber: true, cell: amount('used') },
  { name: texts.used.columns.reserved, isNumber: true, cell: amount('reserved') },
  { name: texts.used.columns.unsettled, isNumber: true, cell: amount('unsettled') },
  { name: texts.used.columns.left, isNumber: true, cell: amount('remaining') },
  { name: texts.used.columns.resets, cell: ({ resetsAt }) => resetsAt !== null && <Time at={resetsAt} /> },
]
