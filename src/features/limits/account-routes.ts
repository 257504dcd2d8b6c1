import type { ClientKey } from '../../records/key-lookup.ts'
import { jsonReply } from '../../request/door/reply.ts'
import type { HttpRoute } from '../../request/door/router.ts'

/** Reads the account of a caller, in the form of each path. */
export interface AccountReaders {
  account(key: ClientKey | undefined): Promise<object>
  openRouterKey(key: ClientKey | undefined): Promise<object>
  openRouterCredits(key: ClientKey | undefined): Promise<object>
}

/** The paths where the holder of a key reads its own limits. `/v1/auth/key` is the old name of OpenRouter's `/v1/key`. */
export const accountPaths = {
  '/v1/account': 'account',
  '/v1/key': 'openRouterKey',
  '/v1/auth/key': 'openRouterKey',
  '/v1/credits': 'openRouterCredits',
} as const satisfies Record<string, keyof AccountReaders>

/** The routes for these paths. */
export const accountRoutes = (load: () => Promise<AccountReaders>): HttpRoute[] =>
  Object.entries(accountPaths).map(([path, reader]) => ({
    method: 'GET',
    path,
    run: async ({ caller: { key } }) => jsonReply(200, await (await load())[reader](key)),
  }))
