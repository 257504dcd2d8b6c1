import type { Kind, ModelEntry } from '../../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'
import { readPageSize, slicePage } from '../../model-list.ts'

/** The prefix of Google's model names. */
export const NAME_PREFIX = 'models/'

/** Writes Google's model list, paginated by `pageSize` and `pageToken`. Without `pageSize`, it contains all models. The last page has no token. */
export const geminiModels: ModelListFormat = {
  list(entries, { kinds, query }) {
    const token = query.get('pageToken')
    const { page, hasMore } = slicePage(entries, {
      size: query.get('pageSize') === '0' ? undefined : readPageSize(query, 'pageSize'), // with 0, the server chooses the size
      after: token ? { name: 'pageToken', id: token } : undefined,
    })
    return {
      models: page.map((entry) => writeModel(entry, kinds)),
      ...(hasMore && { nextPageToken: page.at(-1)?.id }),
    }
  },
  one: writeModel,
}

/** Writes a model for a client. Google's clients look for `generateContent` among its methods. */
function writeModel({ id }: ModelEntry, kinds: readonly Kind[]): object {
  return {
    name: NAME_PREFIX + id,
    displayName: id,
    ...(kinds.includes('llm') && {
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    }),
  }
}
