import { BASE } from './links.mjs'

/** Short URLs, and old URLs of moved pages. Add one whenever you move a page. */
export const REDIRECTS = {
  '/comparison': `${BASE}project/comparison/`,
}
