import type { Combo, Kind } from '../types.ts'
import type { Listed } from './listed.ts'

/** The combos of the wanted kinds (default `llm`); entries of web kinds have a `kind` (spec.md, Listing rules 2). */
export function* listCombos(combos: readonly Combo[], kinds: readonly Kind[]): Generator<Listed> {
  for (const { name, kind = 'llm' } of combos) {
    if (!kinds.includes(kind)) continue
    yield { id: name, owner: 'combo', ...((kind === 'webSearch' || kind === 'webFetch') && { kind }) }
  }
}
