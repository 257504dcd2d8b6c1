import { gatewayError } from '../errors.ts'
import { targetName } from '../providers/target.ts'
import type { RouteTable, RouteTarget } from '../routing/table.ts'
import type { WireFormat } from '../types.ts'
import type { ModelCall } from './call.ts'
import { endpoints } from './endpoints.ts'
import { unreachableModel } from './unreachable-model.ts'

/**
 * The targets of a request that speak its format, in the order in which to try them. Throws `MODEL_NOT_FOUND` when there are none,
 * or `FORMAT_MISMATCH` when there are targets but none speaks the format.
 */
export function* targetsOf(call: ModelCall, table: RouteTable): Generator<RouteTarget, void, void> {
  const { model, endpoint } = call
  let mismatch: RouteTarget | undefined
  let any = false
  for (const target of table.resolve(model) ?? []) {
    if (target.format === endpoint.format) {
      any = true
      yield target
    } else mismatch ??= target
  }
  if (any) return
  if (mismatch) throw formatMismatch(model, mismatch, endpoint.format)
  throw unreachableModel(model, table)
}

function formatMismatch(model: string, target: RouteTarget, asked: WireFormat) {
  const call = endpoints.find((endpoint) => endpoint.format === target.format)
  const hint = call ? ` Send it to POST ${call.path} in that format.` : ''
  return gatewayError('FORMAT_MISMATCH', {
    message: `The request is in the format "${asked}", but the target of "${model}", ${targetName(target)}, speaks "${target.format}".${hint}`,
  })
}
