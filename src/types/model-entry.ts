/** One entry of the model listing (src/rules.md, Listing: what is loaded, and in which order). */
export interface ModelEntry {
  /** `<alias>/<model_id>`, or the name of a combo. */
  id: string
  object: 'model'
  /** Unix time in seconds, the same for all entries of one answer. */
  created: number
  /** The alias of the provider, or `combo`. */
  owned_by: string
  /** Only on entries of these kinds. */
  kind?: 'webSearch' | 'webFetch'
}
