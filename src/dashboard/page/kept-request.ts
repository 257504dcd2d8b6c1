export type { KeptRequest } from '../../usage/kept/record.ts'

/** How good it is when a request ends in this way. */
export const endKinds = { complete: 'good', aborted: 'off', cut: 'bad', failed: 'bad', refused: 'warn' } as const
