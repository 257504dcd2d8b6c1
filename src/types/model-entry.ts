import type { Integer } from './plain-types.ts'
/** An entry in the model listing (src/rules.md, Listing: what is loaded, and in which order). */
export interface ModelEntry {
  /** The ID: `<alias>/<model_id>`, or a combo's name. */
  id: string
  object: 'model'
  /** Unix time in seconds, the same for all entries in a response. */
  created: Integer
  /** The provider's alias, or `combo` for a combo. */
  owned_by: string
  /** The kind; only present for these kinds. */
  kind?: 'webSearch' | 'webFetch'
}
