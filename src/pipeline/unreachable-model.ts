import { type GatewayError, gatewayError } from '../errors.ts'
import { definitionOf } from '../providers/names.ts'
import type { RouteTable } from '../routing/table.ts'

/**
 * The error for a name that is known and leads to no active connection; it names the providers that lack one, and the call that adds it where
 * there is one such provider.
 */
export async function unreachableModel(
  model: string,
  table: Pick<RouteTable, 'missingProviders' | 'comboOf' | 'catalog' | 'basePath'>,
): Promise<GatewayError> {
  const providers = await table.missingProviders(model)
  const missing = providers.map((provider) => `"${provider}"`)
  const combo = table.comboOf(model)
  const why =
    combo?.entries.length === 0
      ? `the combo "${combo.name}" has no models. Give it some with PUT ${table.basePath}/api/combos/{id}.`
      : missing.length === 0
        ? 'none of its names belongs to an active connection. Connect a provider that it names, or change the names.'
        : `there is no active connection to the provider ${missing.join(' or ')}. Add one, or activate it, at ${table.basePath}/api/connections.${call(providers, table)}`
  return gatewayError('MODEL_NOT_FOUND', { message: `The model "${model}" cannot be reached: ${why}` })
}

/** The listing shows the models of the built-in providers before any is connected. Clouds need more than a key: the README has it. */
function call(
  [provider, ...others]: readonly string[],
  { catalog, basePath }: Pick<RouteTable, 'catalog' | 'basePath'>,
): string {
  const definition = provider === undefined || others.length > 0 ? undefined : definitionOf(catalog, provider)
  if (!definition || definition.cloud) return ''
  return ` The administrator sends POST ${basePath}/api/connections with ${JSON.stringify({ provider, apiKey: '<its key>' })}.`
}
