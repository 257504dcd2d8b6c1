import type { AuthStyle, Catalog, CatalogProvider, Cloud, Connection, ProviderFormat, WireFormat } from '../types.ts'
import { compatibleFormat } from './compatible.ts'
import { definitionOf } from './names.ts'

/** Where one attempt goes: a model at a provider, by one of its connections. `C` is the connection as it is stored. */
export interface Target<C extends Connectable = Connectable> {
  connection: C
  provider: string
  /** The provider's own name of the model. */
  model: string
  format: ProviderFormat
  /** Formats that are spoken there as well. */
  alsoSpeaks?: readonly WireFormat[]
  /** Without a trailing slash; `undefined` when neither the connection nor the catalog has one. */
  baseUrl: string | undefined
  /** Undefined: what the format uses. */
  auth: AuthStyle | undefined
  /** Knows address and credential better. */
  cloud: Cloud | undefined
}

type Connectable = Pick<Connection, 'id' | 'provider' | 'providerSpecificData'>

/** The connection's own format and address count before the catalog's, which knows nothing of what is spoken elsewhere. */
export function targetOf<C extends Connectable>(catalog: Catalog, connection: C, model: string): Target<C> {
  const definition = definitionOf(catalog, connection.provider)
  const own = connection.providerSpecificData
  const isVendors = !own?.format && !own?.baseUrl?.trim()
  return {
    ...(isVendors && definition?.alsoSpeaks && { alsoSpeaks: definition.alsoSpeaks }),
    connection,
    provider: connection.provider,
    model,
    format:
      own?.format ??
      formatOfModel(definition, model) ??
      definition?.format ??
      compatibleFormat(connection.provider) ??
      'openai-chat',
    baseUrl: (own?.baseUrl?.trim() || definition?.baseUrl)?.replace(/\/+$/, ''),
    auth: definition?.auth,
    cloud: definition?.cloud,
  }
}

/** A provider may serve the models of several vendors, each in its own format. */
function formatOfModel(definition: CatalogProvider | undefined, model: string): ProviderFormat | undefined {
  if (!definition?.formats) return undefined
  return Object.entries(definition.formats).find(([start]) => model.startsWith(start))?.[1]
}

/** How a target is named to people: `<provider>/<model>`. */
export const targetName = (target: Pick<Target, 'provider' | 'model'>): string => `${target.provider}/${target.model}`
