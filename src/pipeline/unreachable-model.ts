import { type GatewayError, gatewayError } from '../errors.ts'
import type { RouteTable } from '../routing/table.ts'

/** The error for a name that is known and leads to no active connection; it names the providers that lack one. */
export async function unreachableModel(
  model: string,
  table: Pick<RouteTable, 'missingProviders' | 'comboOf'>,
): Promise<GatewayError> {
  const missing = (await table.missingProviders(model)).map((provider) => `"${provider}"`)
  const combo = table.comboOf(model)
  const why =
    combo?.entries.length === 0
      ? `the combo "${combo.name}" has no models. Give it some with PUT /api/combos/{id}.`
      : missing.length === 0
        ? 'none of its names belongs to an active connection. Connect a provider that it names, or change the names.'
        : `there is no active connection to the provider ${missing.join(' or ')}. Add one, or activate it, at /api/connections.`
  return gatewayError('MODEL_NOT_FOUND', { message: `The model "${model}" cannot be reached: ${why}` })
}
