import { type GatewayError, gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import type { RouteTable } from '../routing/table.ts'
import { unreachableModel } from './unreachable-model.ts'

/** The error for an unknown model name: what its provider lacks, otherwise the nearest names. */
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

/** A hint for a name without a provider, or with a misspelt one: the name with the right provider. */
function providerHint(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  if (slash < 0) return providers[0] && `Models are called by their provider, as in "${providers[0]}/${model}".`
  const meant = nearestTo(model, providers)
  return meant && didYouMean([meant + model.slice(slash)])
}

/** A hint for a misspelt provider that has no connection yet. */
function catalogHint(model: string, table: Pick<RouteTable, 'catalogProviders'>): string | undefined {
  const meant = nearestTo(model, table.catalogProviders())
  const name = meant && meant + model.slice(model.indexOf('/'))
  return name && `${didYouMean([name])} It needs a connection to "${meant}": add one at /api/connections.`
}

/** The provider whose name is nearest to the beginning of the model's. */
function nearestTo(model: string, providers: readonly string[]): string | undefined {
  const slash = model.indexOf('/')
  return slash < 1 || slash === model.length - 1 ? undefined : nearest(model.slice(0, slash), providers, 1)[0]
}
