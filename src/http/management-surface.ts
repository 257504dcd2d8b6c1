import type { Exchange, Reply } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { BodyLimits } from '../lib/timed-body.ts'
import type { Management } from '../management/management.ts'
import type { ManagementOptions } from './management-options.ts'
import { createRouter } from './router.ts'

/** What serving the management API takes besides its operations. */
export interface ManagementSurfaceOptions {
  /** Who may call it; default: nobody. */
  management: ManagementOptions | undefined
  /** Those of bodies. */
  limits: BodyLimits
  /** See `SurfaceOptions`. */
  admit(): void
  onError(error: unknown): void
}

/**
 * Serves `/api`: the guard is loaded with the first request, the routes with the first that it lets in. Rejects with what the guard or an
 * operation throws.
 */
export function createManagementSurface(
  api: Management<unknown>,
  { management, limits, admit, onError }: ManagementSurfaceOptions,
): (path: string, exchange: Exchange) => Promise<Reply> {
  const guard = once(async () => {
    const { createManagementGuard } = await import('./management-guard.ts')
    return createManagementGuard(management, { onError })
  })
  const routes = once(async () => {
    const { managementRoutes } = await import('./management-routes.ts')
    return createRouter(managementRoutes(api, limits), admit)
  })
  return async (path, exchange) => {
    await (await guard())(exchange)
    return (await routes())(path, exchange)
  }
}
