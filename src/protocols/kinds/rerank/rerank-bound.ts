import { estimateTokens } from '../../formats/estimate-tokens.ts'
import type { RequestBound } from '../../formats/format.ts'

/**
 * The maximum cost of a request. Vendors charge per search or per token, and count the query's tokens once per document. A search covers up to a
 * hundred documents; a long document counts as several.
 */
export const rerankBound: RequestBound = {
  hasNoOutput: true,
  isBilledOnce: true,
  inputTokens: ({ query, documents }, estimate) =>
    estimate() + estimateTokens({ query }) * 2 * Math.max(0, toList(documents).length - 1),
  units({ documents, max_tokens_per_doc: maxDocumentTokens = MAX_TOKENS }) {
    const maxChunks = Math.ceil(
      (typeof maxDocumentTokens === 'number' && maxDocumentTokens > 0 ? maxDocumentTokens : MAX_TOKENS) /
        TOKENS_PER_CHUNK,
    )
    const chunks = toList(documents).map((document) =>
      Math.min(maxChunks, Math.ceil(getLength(document) / TOKENS_PER_CHUNK)),
    )
    return { search: Math.max(1, Math.ceil(chunks.reduce((sum, count) => sum + Math.max(1, count), 0) / 100)) }
  },
}

const toList = (documents: unknown): readonly unknown[] => (Array.isArray(documents) ? documents : [])

/** Returns the length in characters, because each character is at most one token. */
const getLength = (document: unknown): number =>
  typeof document === 'string' ? document.length : JSON.stringify(document ?? '').length

/** The chunk size for long documents, and the default truncation, in tokens. */
const TOKENS_PER_CHUNK = 500
const MAX_TOKENS = 4_096
