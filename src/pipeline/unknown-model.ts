import { type GatewayError, gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import type { RouteTable } from '../routing/table.ts'
import { unreachableModel } from './unreachable-model.ts'

/** The refusal of a name that leads nowhere: what its provider lacks, else the nearest names. */
export async function unknownModel(
  model: string,
  table: Pick<RouteTable, 'missingProviders' | 'names' | 'providers'>,
): Promise<GatewayError> {
  if ((await table.missingProviders(model)).length > 0) return unreachableModel(model, table)
  const names = await table.names().catch(() => []) // a hint is not worth a failure
  const hint = didYouMean(nearest(model, names)) ?? providerHint(model, [...table.providers()])
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" does not exist. ${hint ? `${hint} ` : ''}GET /v1/models lists all of them.`,
  })
}

/** For a model that only its provider knows: whose name it should begin with. */
function providerHint(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  if (slash < 0) return providers[0] && `Models are called by their provider, as in "${providers[0]}/${model}".`
  const [meant] = slash === model.length - 1 ? [] : nearest(model.slice(0, slash), providers, 1)
  return meant && didYouMean([meant + model.slice(slash)])
}
