import type { OperationEntries } from '../../admin/operation-table.ts'
import { type GatewayLimitOperations, type LimitOperations, limitInputs } from './limit-operations.ts'

/** Operations for the limits of each key, at `/api/keys/:id/limits`. */
export const keyLimitTable = createLimitEntries(
  '/api/keys/:id/limits',
  'an API key',
  'Includes the limits of the key, its group or account, and the gateway.',
) satisfies OperationEntries<LimitOperations>

/** Operations for the limits of each group. */
export const groupLimitTable = createLimitEntries(
  '/api/groups/:id/limits',
  'a group of keys',
  'Includes the limits of the group and the gateway.',
) satisfies OperationEntries<LimitOperations>

/** Operations for the limits of each account. */
export const accountLimitTable = createLimitEntries(
  '/api/accounts/:id/limits',
  "an account of your app's users",
  'Includes the limits of the account, its plan, and the gateway.',
) satisfies OperationEntries<LimitOperations>

/** Operations for the limits in the settings. */
export const gatewayLimitTable = createLimitEntries(
  '/api/settings/limits',
  'the gateway',
  'The limits in the settings.',
) satisfies OperationEntries<GatewayLimitOperations>

function createLimitEntries<const Path extends `/api/${string}`>(path: Path, holder: string, scope: string) {
  return {
    get: {
      method: 'GET',
      path,
      failure: 'fetch limits',
      summary: `Get the current limits of ${holder}`,
      description: scope,
    },
    reset: {
      method: 'DELETE',
      path,
      failure: 'reset limits',
      summary: `Reset the counters of ${holder}`,
      description: 'Reservations of in-flight requests remain.',
    },
    settle: {
      method: 'POST',
      path: `${path}/settle`,
      failure: 'settle limits',
      input: limitInputs.settle,
      isBodyOptional: true,
      summary: `Settle reservations that lost instances made for ${holder}`,
      description: 'They count as used, or as unused if `as` is "unspent".',
      parameters: { as: 'How to count them; default `spent`.' },
    },
  } as const
}
