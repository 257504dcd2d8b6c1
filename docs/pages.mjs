import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the pages, from the root of the repository. */
export const PAGES = 'docs/src/content/docs/'

/** The folders of pages, in the order of the sidebar. In a folder, pages are ordered by `sidebar.order` in their frontmatter, then by title. */
export const SECTIONS = {
  start: 'Start',
  guides: 'Guides',
  migrate: 'Migrate',
  concepts: 'Concepts',
  reference: 'Reference',
  troubleshooting: 'Troubleshooting',
  project: 'Project',
}

/** The folder of pages that TypeDoc writes during a build. */
const GENERATED = 'typescript/'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Reads the pages in the order of the sidebar. The front page, which has no section, comes first. */
export function readSitePages() {
  const names = readdirSync(root + PAGES, { recursive: true, encoding: 'utf8' })
  const written = names.map((name) => name.replaceAll('\\', '/')).filter((name) => !name.startsWith(GENERATED))
  const pages = written.filter((name) => name.endsWith('.md')).map(readPage)
  const sections = ['', ...Object.keys(SECTIONS)]
  const rank = ({ section, name }) => sections.indexOf(section) * 100 + name.split('/').length
  return pages.sort((a, b) => rank(a) - rank(b) || a.order - b.order || a.title.localeCompare(b.title))
}

function readPage(name) {
  const [, frontmatter = '', body = ''] =
    /^---\n([\s\S]*?)^---\n([\s\S]*)$/m.exec(readFileSync(root + PAGES + name, 'utf8')) ?? []
  const readField = (pattern) => pattern.exec(frontmatter)?.[1]
  const unquote = (text = '') => (/^'.*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text)
  return {
    name,
    section: name.includes('/') ? name.slice(0, name.indexOf('/')) : '',
    title: unquote(readField(/^title: (.*)$/m)),
    description: unquote(readField(/^description: (.*)$/m)),
    order: Number(readField(/^sidebar: \{.*\border: (\d+)/m) ?? Number.MAX_SAFE_INTEGER),
    body,
  }
}
