import type { CatalogModel, CatalogProvider, Kind } from '../types.ts'

/** Are some of the provider's service kinds (default `llm`) among the wanted ones (spec.md, Listing rules 3 and 4)? */
export const serves = (definition: CatalogProvider | undefined, kinds: readonly Kind[]): boolean =>
  (definition?.serviceKinds ?? ['llm']).some((kind) => kinds.includes(kind))

/** The kind of a catalog entry; default `llm` (spec.md, Other records). */
export const kindOf = (model: CatalogModel): Kind => model.type ?? 'llm'

/** The words by which kinds are inferred; the first that the id contains counts. */
const hints: ReadonlyArray<readonly [Kind, readonly string[]]> = [
  ['embedding', ['embed']],
  ['tts', ['tts', 'speech', 'audio', 'voice']],
  ['image', ['image', 'imagen', 'dall-e', 'dalle', 'flux', 'sdxl', 'sd-', 'stable-diffusion']],
]

/** The kind of an id that the catalog does not know (spec.md, Listing rules 4). */
export function inferKind(id: string): Kind {
  const text = id.toLowerCase()
  return hints.find(([, words]) => words.some((word) => text.includes(word)))?.[0] ?? 'llm'
}
