import type { Kind, ModelEntry } from '../../types.ts'
import { cutPage, pageSize } from '../models-page.ts'
import type { ModelsTelling } from '../models-telling.ts'

/** What Google's model names start with. */
export const NAME_PREFIX = 'models/'

/** Google's list, cut by `pageSize` and `pageToken`; without `pageSize` it is whole. The last page has no token. */
export const geminiModels: ModelsTelling = {
  list(entries, { kinds, query }) {
    const token = query.get('pageToken')
    const { page, hasMore } = cutPage(entries, {
      size: query.get('pageSize') === '0' ? undefined : pageSize(query, 'pageSize'), // 0 is Google's word for "as you like"
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
