import { once } from '../../lib/promises.ts'
import type { ManagementOptions } from '../../request/door/management-options.ts'
import type { PageGuards } from '../../request/door/pages.ts'
import type { GuardDependencies } from './management-guard.ts'

/** Creates the page guards, which are lazy-loaded on the first request for a page. */
export function createPageGuards(management: ManagementOptions | undefined, deps: GuardDependencies): PageGuards {
  const guards = once(async () => {
    const { createPageGuards } = await import('./management-guard.ts')
    return createPageGuards(management, deps)
  })
  return {
    host: async (exchange) => (await guards()).host(exchange),
    management: async (exchange) => (await guards()).management(exchange),
    token: async (exchange, token) => (await guards()).token(exchange, token),
  }
}
