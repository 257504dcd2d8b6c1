import { gatewayError } from '../../errors.ts'
import type { CallerAccount } from '../../request/caller.ts'
import type { AddToken } from '../../request/door/authenticate-client.ts'
import type { Identity } from '../../request/identity.ts'
import type { VerifyToken } from './verify.ts'

/** Creates a function that adds a token's account to a caller. `getAccount` rejects with the client's error, such as `ACCOUNT_PAUSED`. */
export const createAddToken =
  (verify: VerifyToken, getAccount: (identity: Identity) => Promise<CallerAccount>): AddToken =>
  async ({ key, account: requestedAccount }, text, exchange) => {
    const token = await verify(text, exchange)
    const { ref, account: id, plan, metadata } = token
    const isOtherAccount = requestedAccount ? requestedAccount.ref !== ref : key !== undefined && key.account !== ref
    if (isOtherAccount) throw gatewayError('IDENTITY_CONFLICT')
    const account = requestedAccount ?? (await getAccount({ account: id, plan, metadata }))
    return { owner: account.ref, key, account, token }
  }
