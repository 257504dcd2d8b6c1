import type { Kind, ModelEntry } from '../types.ts'
import { cutPage, pageSize } from './models-page.ts'

/** What Google's model names start with. */
export const GOOGLE_PREFIX = 'models/'

/** Google's list, cut by `pageSize` and `pageToken`; without `pageSize` it is whole. The last page has no token. */
export function googleModels(entries: readonly ModelEntry[], kinds: readonly Kind[], query: URLSearchParams): object {
  const token = query.get('pageToken')
  const { page, hasMore } = cutPage(entries, {
    size: query.get('pageSize') === '0' ? undefined : pageSize(query, 'pageSize'), // 0 is Google's word for "as you like"
    after: token ? { name: 'pageToken', id: token } : undefined,
  })
  return {
    models: page.map((entry) => googleModel(entry, kinds)),
    ...(hasMore && { nextPageToken: page.at(-1)?.id }),
  }
}

/** Google's model; its clients look for `generateContent` among the methods. */
export const googleModel = ({ id }: ModelEntry, kinds: readonly Kind[]): object => ({
  name: GOOGLE_PREFIX + id,
  displayName: id,
  ...(kinds.includes('llm') && {
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  }),
})
