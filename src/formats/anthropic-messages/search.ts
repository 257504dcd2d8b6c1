import { isObject, type JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import type { ServerToolPart } from '../canonical/parts.ts'

/** What a search of the provider's own looked for. */
export const queryOf = (input: unknown): string => (isObject(input) ? text(input.query) : '')

/**
 * A search and what it found, once its results are there; `queries` are those of the searches that wait for theirs, by their
 * ids. A search that failed found nothing. The pages' text is for Anthropic's eyes only.
 */
export function parseSearchResults(block: JsonObject, queries: Map<string, string>): ServerToolPart {
  const id = text(block.tool_use_id)
  const found = Array.isArray(block.content) ? block.content.filter(isObject) : []
  const results = found.map(({ url, title }) => ({ url: text(url), title: text(title) }))
  const query = queries.get(id) ?? ''
  queries.delete(id)
  const error = isObject(block.content) ? text(block.content.error_code) || 'unavailable' : undefined
  return defined<ServerToolPart>({
    ...{ type: 'server-tool', tool: 'web-search', id, query, results },
    error,
  })
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
