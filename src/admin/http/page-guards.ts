import { once } from '../../lib/promises.ts'
import type { ManagementOptions } from '../../request/door/management-options.ts'
import type { PageGuards } from '../../request/door/pages.ts'

/** The guards of pages, loaded with the first request for one. */
export function createPageGuards(
  management: ManagementOptions | undefined,
  onError: (error: unknown) => void,
): PageGuards {
  const guards = once(async () => {
    const { createPageGuards } = await import('./management-guard.ts')
    return createPageGuards(management, { onError })
  })
  return {
    host: async (exchange) => (await guards()).host(exchange),
    management: async (exchange) => (await guards()).management(exchange),
    token: async (exchange, token) => (await guards()).token(exchange, token),
  }
}
