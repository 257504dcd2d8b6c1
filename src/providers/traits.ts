import type { Traits } from '../traits.ts'
import type { Catalog, WireFormat } from '../types.ts'
import { definitionOf } from './names.ts'

/** What the target takes: its wire format's traits, with what its vendor and its model differ in. */
export function traitsFor(
  base: Traits,
  { provider, model }: { provider: string; model: string; format: WireFormat },
  catalog: Catalog,
): Traits {
  const known = definitionOf(catalog, provider)?.models?.find(({ id }) => id === model)
  return known?.maxOutputTokens === undefined ? base : { ...base, maxOutputTokens: known.maxOutputTokens }
}
