import { once } from '../../lib/promises.ts'
import type { ManagementOptions } from '../../request/door/management-options.ts'
import type { PageGuards } from '../../request/door/pages.ts'
import type { GuardDependencies } from './management-guard.ts'

/** The guards of pages, loaded with the first request for one. */
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
