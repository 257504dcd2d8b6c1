import type { Kind, ModelEntry } from '../../../types.ts'
import type { ModelListFormat } from '../../model-list.ts'
import { cutPage, pageSize } from '../../model-list.ts'

/** What Google's model names start with. */
export const NAME_PREFIX = 'models/'

/** Google's list, cut by `pageSize` and `pageToken`; without `pageSize` it is whole. The last page has no token. */
export const geminiModels: ModelListFormat = {
  list(entries, { kinds, query }) {
    const token = query.get('pageToken')
    const { page, hasMore } = cutPage(entries, {
      size: query.get('pageSize') === '0' ? undefined : pageSize(query, 'pageSize'), // 0 leaves the size to the server
      after: token ? { name: 'pageToken', id: token } : undefined,
    })
    return {
      models: page.map((entry) => modelOf(entry, kinds)),
      ...(hasMore && { nextPageToken: page.at(-1)?.id }),
    }
  },
  one: modelOf,
}

/** Google's clients look for `generateContent` among the methods. */
function modelOf({ id }: ModelEntry, kinds: readonly Kind[]): object {
  return {
    name: NAME_PREFIX + id,
    displayName: id,
    ...(kinds.includes('llm') && {
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    }),
  }
}
