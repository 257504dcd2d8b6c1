import { createKeyAccess } from '../../records/key-access.ts'
import type { Secret } from '../../records/open-keyring.ts'
import type { Store } from '../../records/store.ts'
import type { CallerAccount } from '../../request/caller.ts'
import { type AllowedOrigin, toAllowedOrigins } from '../../request/door/allowed-origins.ts'
import type { AddToken } from '../../request/door/authenticate-client.ts'
import type { Identity } from '../../request/identity.ts'
import type { Clock } from '../../types.ts'
import type { MintDependencies } from './mint.ts'
import { createRevocations } from './revocations.ts'
import { createAddToken } from './token-caller.ts'
import { getDefaultAudience } from './token-claims.ts'
import type { TokenOperations } from './token-input.ts'
import { createTokenKeys } from './token-keys.ts'
import { createTokenVerifier } from './verify.ts'

/** Options for tokens. */
export interface TokenOptions {
  /**
   * The audience of tokens. Gateways that accept tokens must have the same audience as those that mint them. Default: `signalbox:` and the
   * `basePath`. Set it to separate gateways that share a secret.
   */
  audience?: string
}

/** Mints, verifies, and revokes tokens for browsers and devices. Its code loads with the first token. */
export interface TokenService {
  addToken: AddToken
  mint: TokenOperations<unknown>['mint']
  /** Revokes all tokens of the account with this ref. Rejects with any error from storage. */
  revoke(ref: string): Promise<void>
}

export interface TokenDependencies extends Pick<MintDependencies, 'publicOrigin'> {
  accounts: { getAccount(identity: Identity): Promise<CallerAccount>; refs: { find(id: string): Promise<string> } }
  store: Pick<Store, 'storage' | 'freshness' | 'groups' | 'openKeyAccess'>
  clock: Clock
  basePath: string
  options: {
    readonly secret?: Secret | undefined
    readonly tokens?: TokenOptions | undefined
    readonly allowedOrigins?: readonly AllowedOrigin[] | undefined
  }
}

export function createTokens({
  store,
  clock,
  basePath,
  options,
  publicOrigin,
  accounts,
}: TokenDependencies): TokenService {
  const { secret, tokens: { audience = getDefaultAudience(basePath) } = {}, allowedOrigins = [] } = options
  const findRef = accounts.refs.find
  const keys = createTokenKeys({ secret, storage: store.storage })
  const revocations = createRevocations({ ...store, clock })
  const { groups } = store.openKeyAccess(createKeyAccess)
  const findPlan = async (idOrName: string) =>
    (await groups.find(idOrName)) ?? (await store.groups.all()).find(({ name }) => name === idOrName)
  return {
    addToken: createAddToken(createTokenVerifier({ keys, audience, clock, revocations, findRef }), accounts.getAccount),
    async mint(input) {
      const { createMinter } = await import('./mint.ts')
      const origins = Array.from(toAllowedOrigins(allowedOrigins).keys())
      const options = { keys, audience, clock, revocations, findRef, findPlan, allowedOrigins: origins, publicOrigin }
      return createMinter(options)(input)
    },
    revoke: revocations.revoke,
  }
}
