import { once } from '../../lib/promises.ts'
import type { TokenDependencies, TokenService } from './tokens.ts'

/** Creates the token service. Its code loads with the first token. */
export function createLazyTokens({
  accounts,
  ...deps
}: Omit<TokenDependencies, 'accounts'> & { accounts(): Promise<TokenDependencies['accounts']> }): TokenService {
  const load = once(async () => {
    const [{ createTokens }, opened] = await Promise.all([import('./tokens.ts'), accounts()])
    return createTokens({ ...deps, accounts: opened })
  })
  return {
    addToken: async (...request) => (await load()).addToken(...request),
    mint: async (options) => (await load()).mint(options),
    revoke: async (ref) => (await load()).revoke(ref),
  }
}
