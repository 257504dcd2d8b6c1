import { getCatalogModel } from '../../protocols/providers/catalog-model.ts'
import { getDefinition } from '../../protocols/providers/provider-names.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { Catalog, Kind, Price } from '../../types.ts'

/** Tells the operator how to set the target's price, and how old the catalog is. The prices in the example call are made up. */
export function describeMissingPrice(catalog: Catalog, target: RouteTarget): string {
  const { provider, model, connection } = target
  const { asOf, isLive } = getDefinition(catalog, provider) ?? {}
  const example = examplePrices[getCatalogModel(catalog, target)?.type ?? 'llm'] ?? EXAMPLE_PRICE
  const prices = { ...connection.prices, [model]: example }
  const exampleCall =
    connection.source === 'code'
      ? `add prices: ${toLiteral({ [model]: example })} to the connection "${connection.id}" in code`
      : `gateway.api.connections.update(${toLiteral(connection.id)}, { prices: ${toLiteral(prices)} })`
  const unit = example === EXAMPLE_PRICE ? 'USD per million tokens' : 'USD'
  return `No price of "${provider}/${model}": ${exampleCall} (${unit}).${asOf ? ` The catalog is of ${asOf}.${isLive ? '' : REFRESH_ADVICE}` : ''}`
}

const REFRESH_ADVICE = " To keep it current: catalog: { refresh: 'models.dev' }."

const EXAMPLE_PRICE: Price = { input: 3, output: 15 }

/** Example prices for the kinds that aren't billed by token. */
const examplePrices: Partial<Record<Kind, Price>> = {
  image: { image: 0.04 },
  tts: { character: 0.000015 },
  stt: { minute: 0.006 },
  imageToText: { page: 0.001 },
  webSearch: { search: 0.005 },
  webFetch: { page: 0.001 },
}

/** Formats a value as a JavaScript literal. */
function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(
    ([name, inner]) => `${/^[a-z_$][\w$]*$/i.test(name) ? name : toLiteral(name)}: ${toLiteral(inner)}`,
  )
  return `{ ${fields.join(', ')} }`
}
