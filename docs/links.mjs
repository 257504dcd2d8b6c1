import { posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PAGES } from './pages.mjs'

export const SITE = 'https://signalbox-dev.github.io'
/** The path that the site is served under. It ends with a slash. */
export const BASE = process.env.DOCS_BASE ?? '/signalbox/'

const REPOSITORY = 'https://github.com/signalbox-dev/signalbox/blob/HEAD/'
const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Turns a relative link, which works in an editor and on GitHub, into the URL of the page, or into the URL on GitHub if the file isn't a page of the site.
 * `page` is the path of the page from the root of the repository.
 */
export function toUrl(link, page) {
  if (/^(?:[a-z][a-z+.-]*:|\/|#)/i.test(link)) return link
  const [file, anchor] = link.split(/(?=#)/)
  const path = posix.join(posix.dirname(page), decodeURI(file))
  if (!path.startsWith(PAGES)) return REPOSITORY + encodeURI(path) + (anchor ?? '')
  const slug = path
    .slice(PAGES.length)
    .replace(/\.mdx?$/, '')
    .replace(/(?:^|\/)index$/, '')
  return BASE + (slug && `${slug.toLowerCase()}/`) + (anchor ?? '')
}

/** A plugin for the Markdown processor, which applies `toUrl` to every link of a page. */
export const relativeLinks = {
  name: 'relative-links',
  element: {
    filter: ['a'],
    visit(node, context) {
      const { href } = node.properties
      if (typeof href !== 'string' || context.fileURL === undefined) return
      const page = relative(root, fileURLToPath(context.fileURL)).split(sep).join('/')
      context.setProperty(node, 'href', toUrl(href, page))
    },
  },
}
