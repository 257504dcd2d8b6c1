import { type GatewayError, gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import type { RouteTable } from '../routing/table.ts'
import { unreachableModel } from './unreachable-model.ts'

/** The refusal of a name that leads nowhere: what its provider lacks, else the nearest names. */
export async function unknownModel(
  model: string,
  table: Pick<RouteTable, 'missingProviders' | 'names'>,
): Promise<GatewayError> {
  if ((await table.missingProviders(model)).length > 0) return unreachableModel(model, table)
  const names = await table.names().catch(() => []) // a hint is not worth a failure
  const hint = didYouMean(nearest(model, names))
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" does not exist. ${hint ? `${hint} ` : ''}GET /v1/models lists all of them.`,
  })
}
