import { estimateTokens } from '../../formats/estimate-tokens.ts'
import type { RequestBound } from '../../formats/format.ts'

/**
 * The most that a request can cost. Vendors charge for searches or for tokens, and count the query's with each document. A search has up to a
 * hundred documents, of which a long one counts as several.
 */
export const rerankBound: RequestBound = {
  hasNoOutput: true,
  isEither: true,
  inputTokens: ({ query, documents }, estimate) =>
    estimate() + estimateTokens({ query }) * 2 * Math.max(0, listOf(documents).length - 1),
  units({ documents, max_tokens_per_doc: length = MOST_TOKENS }) {
    const most = Math.ceil((typeof length === 'number' && length > 0 ? length : MOST_TOKENS) / CHUNK)
    const chunks = listOf(documents).map((document) => Math.min(most, Math.ceil(lengthOf(document) / CHUNK)))
    return { search: Math.max(1, Math.ceil(chunks.reduce((sum, count) => sum + Math.max(1, count), 0) / 100)) }
  },
}

const listOf = (documents: unknown): readonly unknown[] => (Array.isArray(documents) ? documents : [])

/** In characters, of which each is a token at most. */
const lengthOf = (document: unknown): number =>
  typeof document === 'string' ? document.length : JSON.stringify(document ?? '').length

/** In tokens: what a long document is divided into, and where it is cut unless the request says otherwise. */
const CHUNK = 500
const MOST_TOKENS = 4_096
