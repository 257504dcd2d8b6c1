import { gatewayError } from '../errors.ts'
import { nearest } from '../lib/nearest.ts'
import { targetName } from '../providers/target.ts'
import type { RouteTable, RouteTarget } from '../routing/table.ts'
import type { WireFormat } from '../types.ts'
import type { ModelCall } from './call.ts'
import { endpoints } from './endpoints.ts'

/**
 * The targets of a request that speak its format, in the order in which to try them. Throws `MODEL_NOT_FOUND` naming the nearest names,
 * or `FORMAT_MISMATCH` when there are targets but none speaks the format.
 */
export function* targetsOf(call: ModelCall, table: RouteTable): Generator<RouteTarget, void, void> {
  const { model, endpoint } = call
  const resolved = table.resolve(model)
  if (!resolved) throw modelNotFound(model, table)
  let mismatch: RouteTarget | undefined
  let any = false
  for (const target of resolved) {
    if (target.format === endpoint.format) {
      any = true
      yield target
    } else mismatch ??= target
  }
  if (any) return
  if (mismatch) throw formatMismatch(model, mismatch, endpoint.format)
  throw gatewayError('MODEL_NOT_FOUND', {
    message: `"${model}" leads to no model that can be reached: none of its names belongs to an active connection.`,
  })
}

function modelNotFound(model: string, table: RouteTable) {
  const provider = table.missingProvider(model)
  if (provider !== undefined) {
    return gatewayError('MODEL_NOT_FOUND', {
      message: `The model "${model}" cannot be reached: there is no active connection to the provider "${provider}". Add one with POST /api/connections.`,
    })
  }
  const near = nearest(model, table.names())
  const hint = near.length > 0 ? ` Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : ''
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" does not exist.${hint} GET /v1/models lists all of them.`,
  })
}

function formatMismatch(model: string, target: RouteTarget, asked: WireFormat) {
  const call = endpoints.find((endpoint) => endpoint.format === target.format)
  const hint = call ? ` Send it to POST ${call.path} in that format.` : ''
  return gatewayError('FORMAT_MISMATCH', {
    message: `The request is in the format "${asked}", but the target of "${model}", ${targetName(target)}, speaks "${target.format}".${hint}`,
  })
}
