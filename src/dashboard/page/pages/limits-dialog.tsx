import type { LimitState } from '../../../types/limits.ts'
import { useChange, useLoaded } from '../data.ts'
import { amountOf, limitWords } from '../limits.ts'
import { api } from '../session.ts'
import * as texts from '../texts/keys.ts'
import { Await, Button, Problem, Time } from '../ui/basics.tsx'
import { Dialog } from '../ui/sections.tsx'
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
  const change = useChange(reload)
  return (
    <Dialog title={texts.usedTitle(name)} onClose={onClose}>
      <Problem>{change.error.value}</Problem>
      <Await of={state.value} onRetry={reload}>
        {(limits) =>
          limits.length === 0 ? (
            <p>{texts.usedNone}</p>
          ) : (
            <>
              <Table caption={texts.usedTitle(name)} columns={columns} rows={limits} keyOf={keyOf} />
              <div class="actions">
                {limits.some(({ unsettled }) => unsettled > 0) && (
                  <>
                    <p class="hint">{texts.usedUnsettledHint}</p>
                    <Button writes onClick={() => change.run(() => operations().settle(id, { as: 'spent' }))}>
                      {texts.usedSettle}
                    </Button>
                    <Button writes onClick={() => change.run(() => operations().settle(id, { as: 'unspent' }))}>
                      {texts.usedFree}
                    </Button>
                  </>
                )}
                <Button kind="danger" onClick={() => change.run(() => operations().reset(id))}>
                  {texts.usedReset}
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
    name: texts.usedColumnLimit,
    cell: ({ scope, unit, window, limit, remaining }) => (
      <>
        {amountOf(unit, limit)} {limitWords(unit, window)}
        <br />
        <span class="hint">{texts.usedScopes[scope]}</span>
        <br />
        <meter
          min={0}
          max={limit}
          value={limit - remaining}
          high={limit * 0.9}
          optimum={0}
          aria-label={texts.usedColumnUsed}
        />
      </>
    ),
  },
  { name: texts.usedColumnUsed, isNumber: true, cell: amount('used') },
  { name: texts.usedColumnReserved, isNumber: true, cell: amount('reserved') },
  { name: texts.usedColumnUnsettled, isNumber: true, cell: amount('unsettled') },
  { name: texts.usedColumnLeft, isNumber: true, cell: amount('remaining') },
  { name: texts.usedColumnResets, cell: ({ resetsAt }) => resetsAt !== null && <Time at={resetsAt} /> },
]
