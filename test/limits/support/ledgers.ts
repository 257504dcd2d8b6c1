import { isGatewayError } from '../../../src/errors.ts'
import type { LimitedScope, LimitRejection, Reservation } from '../../../src/features/limits/ledger/ledger.ts'
import type { LimitState } from '../../../src/types/limits.ts'
import { createRandom } from '../../support/random.ts'
import { assert } from '../../support/suite.ts'
import { World } from './world.ts'

/** Creates two instances on one storage. */
export const open = () => {
  const world = new World(createRandom())
  const [a, b] = [world.start(), world.start()]
  return { world, a, b, one: a.ledger, other: b.ledger }
}
export const key = (limits: LimitedScope['limits'], id = 'one'): LimitedScope => ({ scope: 'key', id, limits })
export const group = (limits: LimitedScope['limits']): LimitedScope => ({ scope: 'group', id: 'team', limits })
export const gateway = (limits: LimitedScope['limits']): LimitedScope => ({ scope: 'gateway', id: '', limits })

export function assertReserved(outcome: Reservation | LimitRejection): Reservation {
  if (outcome.kind === 'rejected') assert.unreachable(JSON.stringify(outcome))
  return outcome as Reservation // otherwise, `unreachable` has thrown
}
export const getReason = (outcome: Reservation | LimitRejection | undefined) =>
  outcome?.kind === 'rejected'
    ? [outcome.why, outcome.limit.scope, outcome.limit.unit, outcome.limit.window]
    : undefined
export const getTotals = (states: readonly LimitState[]) =>
  states.map(({ used, reserved, unsettled, remaining }) => ({ used, reserved, unsettled, remaining }))
export const getCode = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error) => (isGatewayError(error) ? `${error.status} ${error.code}` : String(error)),
  )
