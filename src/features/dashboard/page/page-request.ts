export type { StoredRequest } from '../../usage/request-record.ts'

/** The `kind` of the `State` to show for each way that a request can end. */
export const endKinds = { complete: 'good', aborted: 'off', cut: 'bad', failed: 'bad', refused: 'warn' } as const
