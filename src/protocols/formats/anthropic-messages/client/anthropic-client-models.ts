import type { ModelEntry } from '../../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'
import { readPageSize, slicePage } from '../../model-list.ts'

/** Writes model lists for Anthropic's clients, paginated by `limit`, `after_id`, and `before_id`. Without `limit`, a list contains all models. */
export const anthropicModels: ModelListFormat = {
  list(entries, { query }) {
    const { page, hasMore } = slicePage(entries, {
      size: readPageSize(query, 'limit'),
      after: readCursor(query, 'after_id'),
      before: readCursor(query, 'before_id'),
    })
    return {
      data: page.map(writeModel),
      has_more: hasMore,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  },
  one: writeModel,
}

/** Writes a model. Unknown fields are null, except that Anthropic uses the epoch for an unknown release date. */
function writeModel({ id }: ModelEntry): object {
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

function readCursor(query: URLSearchParams, name: string) {
  const id = query.get(name)
  return id ? { name, id } : undefined
}
