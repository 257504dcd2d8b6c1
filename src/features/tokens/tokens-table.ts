import type { OperationEntries } from '../../admin/operation-table.ts'
import { newTokenSchema, type TokenOperations } from './token-input.ts'

export const tokenTable = {
  mint: {
    method: 'POST',
    path: '/api/tokens',
    failure: 'mint token',
    status: 201,
    input: newTokenSchema,
    summary: 'Mint a token for a browser or a device',
    description:
      'Clients send the token in place of an API key. It acts for one account until it expires. It is not stored, and anyone who has it can read its claims.',
  },
} satisfies OperationEntries<TokenOperations>
