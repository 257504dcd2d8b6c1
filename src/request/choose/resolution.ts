import type { Endpoint } from '../../protocols/formats/format.ts'
import type { Resolution } from '../routing/group.ts'
import { requireComboKind, requireOneModel } from '../routing/model-kinds.ts'
import type { RouteTable } from '../routing/route-table.ts'

/**
 * Resolves a model name at an endpoint; `undefined` if it is unknown. Throws `INVALID_REQUEST` for a combo of another kind. If all providers of the
 * endpoint's kind offer the same service, a provider's name alone is enough.
 */
export function resolveForEndpoint(
  endpoint: Endpoint,
  model: string,
  table: Pick<RouteTable, 'resolveModel' | 'combos' | 'aliases'>,
): Resolution {
  const { service } = endpoint
  const resolution = table.resolveModel(model, undefined, service)
  if (resolution && 'strategy' in resolution) {
    requireComboKind(resolution, endpoint)
    if (resolution.kind === 'embedding') requireOneModel(resolution, table)
  }
  return resolution
}
