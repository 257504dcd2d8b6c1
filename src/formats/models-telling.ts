import type { Kind, ModelEntry } from '../types.ts'

/** How a format's clients are told which models there are. */
export interface ModelsTelling {
  /** The body of a list, cut as the query asks. Throws `INVALID_REQUEST` on invalid paging parameters. */
  list(entries: readonly ModelEntry[], asked: { kinds: readonly Kind[]; query: URLSearchParams }): object
  /** The body for one model; `kinds`: those among which it was found. */
  one(entry: ModelEntry, kinds: readonly Kind[]): object
}
