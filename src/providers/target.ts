import { withoutTrailing } from '../lib/urls.ts'
import { type VendorFormName, vendorForms, wireFormats } from '../types/unions.ts'
import type {
  AuthStyle,
  Catalog,
  CatalogProvider,
  Cloud,
  Connection,
  EntryParams,
  Price,
  ProviderFormat,
  WireFormat,
} from '../types.ts'
import { definitionOf } from './names.ts'

/** The wire format of a compatible provider, whose address the user gives; `undefined` for any other provider id. */
export function compatibleFormat(provider: string): WireFormat | undefined {
  if (provider.startsWith('openai-compatible')) return 'openai-chat'
  if (provider.startsWith('anthropic-compatible')) return 'anthropic-messages'
  return undefined
}

/** Is it a server that users run themselves, with models of their own choice? */
export const isLocal = ({ baseUrl }: CatalogProvider): boolean =>
  /^http:\/\/(?:localhost|127\.0\.0\.1)[:/]/.test(baseUrl ?? '')

/** The destination of an attempt: a model at a provider, through one of its connections. `C`: the connection's type. */
export interface ProviderTarget<C extends Connectable = Connectable> {
  connection: C
  provider: string
  /** The provider's own name of the model. */
  model: string
  /** The prices that the owner has given for the model, in place of those of the catalog. */
  ownPrice?: Price
  format: ProviderFormat
  /** How it is asked for anything but chat, if the connection says so. */
  form?: VendorFormName
  /** Its voices, by the names that clients say, if the entry of a combo sets them. */
  voices?: Readonly<Record<string, string>>
  /** What its requests for an answer are set to, if entries of combos set something. */
  params?: Readonly<EntryParams>
  /** Other formats that the same address speaks. */
  alsoSpeaks?: readonly WireFormat[]
  /** Without a trailing slash; `undefined` when neither the connection nor the catalog has one. */
  baseUrl: string | undefined
  /** `undefined`: the format's default. */
  auth: AuthStyle | undefined
  /** The cloud that decides address and credential, if any. */
  cloud: Cloud | undefined
}

type Connectable = Pick<Connection, 'id' | 'provider' | 'providerSpecificData' | 'prices'>

/**
 * The target of a connection. The format and address of the connection replace those of the catalog; with either of them, the catalog's
 * `alsoSpeaks` does not apply. `priceOfCustom`: the prices of the custom model of that name, which hold where the connection has none for it.
 */
export function targetOf<C extends Connectable>(
  catalog: Catalog,
  connection: C,
  model: string,
  priceOfCustom?: Price,
): ProviderTarget<C> {
  const { prices = {} } = connection
  const ownPrice = (Object.hasOwn(prices, model) ? prices[model] : undefined) ?? priceOfCustom
  const definition = definitionOf(catalog, connection.provider)
  const own = connection.providerSpecificData
  const baseUrl = own?.baseUrl?.trim() || definition?.baseUrl
  const form = vendorForms.find((name) => name === own?.format)
  const format = wireFormats.find((name) => name === own?.format)
  const isVendors = !own?.format && !own?.baseUrl?.trim()
  return {
    ...(isVendors && definition?.alsoSpeaks && { alsoSpeaks: definition.alsoSpeaks }),
    ...(form && { form }),
    connection,
    provider: connection.provider,
    model,
    ...(ownPrice && { ownPrice }),
    format:
      format ??
      formatOfModel(definition, model) ??
      definition?.format ??
      compatibleFormat(connection.provider) ??
      'openai-chat',
    baseUrl: baseUrl === undefined ? undefined : withoutTrailing(baseUrl, '/'),
    auth: definition?.auth,
    cloud: definition?.cloud,
  }
}

/** The format of a model, where a provider serves the models of several vendors, each in its vendor's format. */
function formatOfModel(definition: CatalogProvider | undefined, model: string): ProviderFormat | undefined {
  if (!definition?.formats) return undefined
  return Object.entries(definition.formats).find(([start]) => model.startsWith(start))?.[1]
}

/** The target's name for people: `<provider>/<model>`. */
export const targetName = (target: Pick<ProviderTarget, 'provider' | 'model'>): string =>
  `${target.provider}/${target.model}`
