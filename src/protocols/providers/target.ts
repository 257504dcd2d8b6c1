import { trimTrailing } from '../../lib/urls.ts'
import { type VendorFormatName, vendorFormats, wireFormats } from '../../types/unions.ts'
import type {
  AuthStyle,
  Catalog,
  CatalogProvider,
  Cloud,
  Connection,
  EntryParams,
  Price,
  PromptCaching,
  ProviderFormat,
  WireFormat,
} from '../../types.ts'
import { getDefinition } from './provider-names.ts'

/** Returns the wire format of a compatible provider, whose base URL the user sets. Returns `undefined` for any other provider ID. */
export function getCompatibleFormat(provider: string): WireFormat | undefined {
  if (provider.startsWith('openai-compatible')) return 'openai-chat'
  if (provider.startsWith('anthropic-compatible')) return 'anthropic-messages'
  return undefined
}

/** Returns whether a provider is a local server, where users choose the models. */
export const isLocalProvider = ({ baseUrl }: CatalogProvider): boolean =>
  /^http:\/\/(?:localhost|127\.0\.0\.1)[:/]/.test(baseUrl ?? '')

/** The destination of an attempt: a model at a provider, through one of its connections. `C` is the connection's type. */
export interface ProviderTarget<C extends TargetConnection = TargetConnection> {
  connection: C
  provider: string
  /** The provider's name for the model. */
  model: string
  /** The operator's prices for the model, which replace the catalog's prices. */
  ownPrice?: Price
  format: ProviderFormat
  /** The vendor format for kinds other than chat, if the connection sets it. */
  vendorFormat?: VendorFormatName
  /** The target's voices by the clients' names, if the combo entry sets them. */
  voices?: Readonly<Record<string, string>>
  /** Parameters that the combo entry sets for the target's requests. */
  params?: Readonly<EntryParams>
  /** Whether the gateway asks the target to cache prompts, if a combo entry specifies that. */
  promptCaching?: PromptCaching
  /** Other formats that the same base URL supports. */
  alsoSpeaks?: readonly WireFormat[]
  /** The base URL without a trailing slash, or `undefined` if neither the connection nor the catalog has one. */
  baseUrl: string | undefined
  /** How to send the credential; `undefined` means the format's default. */
  auth: AuthStyle | undefined
  /** The cloud that determines the URL and the credential, if any. */
  cloud: Cloud | undefined
}

type TargetConnection = Pick<Connection, 'id' | 'provider' | 'providerSpecificData' | 'prices'>

/**
 * Creates the target for a connection's model. The connection's format and base URL replace the catalog's; if it sets either, the catalog's
 * `alsoSpeaks` doesn't apply. `customPrice` is the custom model's price, used if the connection has none.
 */
export function createTarget<C extends TargetConnection>(
  catalog: Catalog,
  connection: C,
  model: string,
  customPrice?: Price,
): ProviderTarget<C> {
  const { prices = {} } = connection
  const ownPrice = (Object.hasOwn(prices, model) ? prices[model] : undefined) ?? customPrice
  const definition = getDefinition(catalog, connection.provider)
  const providerData = connection.providerSpecificData
  const baseUrl = providerData?.baseUrl?.trim() || definition?.baseUrl
  const vendorFormat = vendorFormats.find((name) => name === providerData?.format)
  const format = wireFormats.find((name) => name === providerData?.format)
  const usesDefaults = !providerData?.format && !providerData?.baseUrl?.trim()
  return {
    ...(usesDefaults && definition?.alsoSpeaks && { alsoSpeaks: definition.alsoSpeaks }),
    ...(vendorFormat && { vendorFormat }),
    connection,
    provider: connection.provider,
    model,
    ...(ownPrice && { ownPrice }),
    format:
      format ??
      findModelFormat(definition, model) ??
      definition?.format ??
      getCompatibleFormat(connection.provider) ??
      'openai-chat',
    baseUrl: baseUrl === undefined ? undefined : trimTrailing(baseUrl, '/'),
    auth: definition?.auth,
    cloud: definition?.cloud,
  }
}

/** Returns a model's format at a provider that serves several vendors' models, each in its vendor's format. */
function findModelFormat(definition: CatalogProvider | undefined, model: string): ProviderFormat | undefined {
  if (!definition?.formats) return undefined
  return Object.entries(definition.formats).find(([start]) => model.startsWith(start))?.[1]
}

/** Returns the target's display name: `<provider>/<model>`. */
export const getTargetName = (target: Pick<ProviderTarget, 'provider' | 'model'>): string =>
  `${target.provider}/${target.model}`
