import type { Endpoint } from '../../protocols/formats/format.ts'
import type { Resolution } from '../routing/group.ts'
import { requireComboKind, requireOneModel } from '../routing/model-kinds.ts'
import type { RouteTable } from '../routing/route-table.ts'

/**
 * What a model name stands for at an endpoint; `undefined` when it is unknown. Throws `INVALID_REQUEST` for a combo of another kind. Where the
 * endpoint has a name for what all its providers do, the name of a provider alone is enough.
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
