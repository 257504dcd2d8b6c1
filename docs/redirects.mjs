import { BASE } from './links.mjs'

/** Short URLs, and the former URLs of pages that have moved. Add one whenever you move a page. */
export const REDIRECTS = {
  '/comparison': `${BASE}project/comparison/`,
}
