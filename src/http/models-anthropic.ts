import type { ModelEntry } from '../types.ts'
import { cutPage, pageSize } from './models-page.ts'

/** Anthropic's list, cut by `limit`, `after_id` and `before_id`; without `limit` it is whole. */
export function anthropicModels(entries: readonly ModelEntry[], query: URLSearchParams): object {
  const { page, hasMore } = cutPage(entries, {
    size: pageSize(query, 'limit'),
    after: cursor(query, 'after_id'),
    before: cursor(query, 'before_id'),
  })
  return {
    data: page.map(anthropicModel),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

/** Anthropic's model. What the gateway does not know is null; the epoch is their sign of an unknown date of release. */
export const anthropicModel = ({ id }: ModelEntry): object => ({
  type: 'model',
  id,
  display_name: id,
  created_at: '1970-01-01T00:00:00Z',
  lifecycle: 'active',
  deprecated_at: null,
  retires_at: null,
  line: null,
  max_input_tokens: null,
  max_tokens: null,
  capabilities: null,
})

function cursor(query: URLSearchParams, name: string) {
  const id = query.get(name)
  return id ? { name, id } : undefined
}
