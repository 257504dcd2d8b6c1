import type { ModelEntry } from '../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'
import { cutPage, pageSize } from '../../model-list.ts'

/** Anthropic's list of models, divided into pages by `limit`, `after_id` and `before_id`; without `limit` it has all models. */
export const anthropicModels: ModelListFormat = {
  list(entries, { query }) {
    const { page, hasMore } = cutPage(entries, {
      size: pageSize(query, 'limit'),
      after: cursor(query, 'after_id'),
      before: cursor(query, 'before_id'),
    })
    return {
      data: page.map(modelOf),
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  },
  one: modelOf,
}

/** A model for a client. Fields that the gateway does not know are null; Anthropic uses the epoch for an unknown date of release. */
function modelOf({ id }: ModelEntry): object {
  return {
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
  }
}

function cursor(query: URLSearchParams, name: string) {
  const id = query.get(name)
  return id ? { name, id } : undefined
}
