import type { LimitScope, LimitState, UsageLimits } from '../../../../types/limits.ts'
import { useChange, useData } from '../page-data.ts'
import { formatAmount, formatLimitName, formatLimits } from '../page-limits.ts'
import { api } from '../session.ts'
import { Await, Button, Problem, Time } from '../ui/basics.tsx'
import { Dialog } from '../ui/sections.tsx'
import { type Column, Table } from '../ui/table.tsx'

interface LimitsDialogProps {
  of: 'keys' | 'groups' | 'accounts'
  id: string
  name: string
  onClose: () => void
}

/** Shows a key's, group's, or account's limits and their usage. */
export function LimitsDialog({ of, id, name, onClose }: LimitsDialogProps) {
  const getLimitOperations = () => api.value[of].limits
  const { state, reload } = useData(async () => (await getLimitOperations().get(id)).limits, { intervalMs: 2_000 })
  const change = useChange(reload)
  const title = `Limits for "${name}"`
  return (
    <Dialog title={title} onClose={onClose}>
      <Problem>{change.error.value}</Problem>
      <Await of={state.value} onRetry={reload}>
        {(limits) =>
          limits.length === 0 ? (
            <p>No limits apply.</p>
          ) : (
            <>
              <Table caption={title} columns={columns} rows={limits} getKey={getLimitKey} />
              <div class="actions">
                {limits.some(({ unsettled }) => unsettled > 0) && (
                  <>
                    <p class="hint">
                      Unsettled amounts were reserved by an instance that’s no longer running. They count as used until
                      you settle them.
                    </p>
                    <Button writes onClick={() => change.run(() => getLimitOperations().settle(id, { as: 'spent' }))}>
                      Settle as spent
                    </Button>
                    <Button writes onClick={() => change.run(() => getLimitOperations().settle(id, { as: 'unspent' }))}>
                      Settle as unspent
                    </Button>
                  </>
                )}
                <Button kind="danger" onClick={() => change.run(() => getLimitOperations().reset(id))}>
                  Reset counters
                </Button>
              </div>
            </>
          )
        }
      </Await>
    </Dialog>
  )
}

const getLimitKey = ({ scope, unit, window }: LimitState) => `${scope} ${unit} ${window}`

const createAmountCell = (field: 'used' | 'reserved' | 'unsettled' | 'remaining') => (state: LimitState) =>
  formatAmount(state.unit, state[field])

const LimitMeter = ({ limit, remaining, label }: { limit: number; remaining: number; label: string }) => (
  <meter min={0} max={limit} value={limit - remaining} high={limit * 0.9} optimum={0} aria-label={label} />
)

interface UsedLimitsProps {
  limits: UsageLimits | undefined
  /** Each limit's usage. Absent or empty until it has loaded. */
  states: readonly LimitState[] | undefined
}

/** Shows limits with their usage. */
export function LimitUsage({ limits, states = [] }: UsedLimitsProps) {
  if (states.length === 0) return <>{formatLimits(limits).join(', ') || 'No limits'}</>
  return (
    <ul class="bare limits">
      {states.map(({ unit, window, limit, remaining }) => {
        const text = `${formatAmount(unit, Math.max(0, limit - remaining))} of ${formatAmount(unit, limit)}`
        return (
          <li key={`${unit} ${window}`}>
            <LimitMeter limit={limit} remaining={remaining} label={text} />
            {text} {formatLimitName(unit, window)}
          </li>
        )
      })}
    </ul>
  )
}

const scopes = {
  key: 'This key',
  account: 'Account',
  group: 'Group',
  gateway: 'Entire gateway',
  run: 'Token',
} satisfies Record<LimitScope, string>

const columns: Column<LimitState>[] = [
  {
    name: 'Limit',
    cell: ({ scope, unit, window, limit, remaining }) => (
      <div>
        {formatAmount(unit, limit)} {formatLimitName(unit, window)}
        <br />
        <span class="hint">{scopes[scope]}</span>
        <br />
        <LimitMeter limit={limit} remaining={remaining} label="Used" />
      </div>
    ),
  },
  { name: 'Used', isNumber: true, cell: createAmountCell('used') },
  { name: 'Reserved', isNumber: true, cell: createAmountCell('reserved') },
  { name: 'Unsettled', isNumber: true, cell: createAmountCell('unsettled') },
  { name: 'Remaining', isNumber: true, cell: createAmountCell('remaining') },
  { name: 'Resets', cell: ({ resetsAt }) => resetsAt !== null && <Time time={resetsAt} /> },
]
