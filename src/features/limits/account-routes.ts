import type { FeatureRoute } from '../../feature.ts'
import type { Caller } from '../../request/caller.ts'
import { createJsonReply } from '../../request/door/reply.ts'
import type { UnrecordedRequest } from '../../request/feature-requests.ts'

/** Functions that read a caller's account, each in the format of one of the paths. */
export interface AccountReaders {
  account(caller: Caller): Promise<object>
  openRouterKey(caller: Caller): Promise<object>
  openRouterCredits(caller: Caller): Promise<object>
}

/** Paths that callers can read their own limits from. `/v1/auth/key` is the old name of OpenRouter's `/v1/key`. */
export const accountPaths = {
  '/v1/account': 'account',
  '/v1/key': 'openRouterKey',
  '/v1/auth/key': 'openRouterKey',
  '/v1/credits': 'openRouterCredits',
} as const satisfies Record<string, keyof AccountReaders>

/** Creates the routes for `accountPaths`. */
export const accountRoutes = (load: () => Promise<AccountReaders>): FeatureRoute[] =>
  Object.entries(accountPaths).map(([path, reader]) => ({
    method: 'GET',
    path,
    isRecorded: false,
    run: async ({ caller }: UnrecordedRequest) => createJsonReply(200, await (await load())[reader](caller)),
  }))
