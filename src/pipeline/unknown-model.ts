import { type GatewayError, gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import type { RouteTable } from '../routing/table.ts'
import { unreachableModel } from './unreachable-model.ts'

/** The refusal of a name that leads nowhere: what its provider lacks, else the nearest names. */
export async function unknownModel(
  model: string,
  table: Pick<RouteTable, 'missingProviders' | 'names' | 'providers' | 'catalogProviders' | 'comboOf'>,
): Promise<GatewayError> {
  if ((await table.missingProviders(model)).length > 0) return unreachableModel(model, table)
  const names = await table.names().catch(() => []) // a hint is not worth a failure
  const hint =
    didYouMean(nearest(model, names)) ?? providerHint(model, [...table.providers()]) ?? catalogHint(model, table)
  return gatewayError('MODEL_NOT_FOUND', {
    message: `The model "${model}" does not exist. ${hint ? `${hint} ` : ''}GET /v1/models lists all of them.`,
  })
}

/** For a model that only its provider knows: whose name it should begin with. */
function providerHint(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  if (slash < 0) return providers[0] && `Models are called by their provider, as in "${providers[0]}/${model}".`
  const meant = nearestTo(model, providers)
  return meant && didYouMean([meant + model.slice(slash)])
}

/** For a misspelt provider that is not connected yet. */
function catalogHint(model: string, table: Pick<RouteTable, 'catalogProviders'>): string | undefined {
  const meant = nearestTo(model, table.catalogProviders())
  const name = meant && meant + model.slice(model.indexOf('/'))
  return name && `${didYouMean([name])} It needs a connection to "${meant}": add one at /api/connections.`
}

/** The provider that a name of a model may begin with. */
function nearestTo(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  return slash < 1 || slash === model.length - 1 ? undefined : nearest(model.slice(0, slash), providers, 1)[0]
}
