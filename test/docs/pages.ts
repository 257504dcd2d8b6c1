import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced code block. */
export interface Block {
  /** The page and the line, for failure messages. */
  place: string
  page: string
  language: string
  code: string
  /** The comment directly in front of the block, such as `not run: needs an account`. */
  note: string | undefined
}

export interface Frontmatter {
  title?: unknown
  description?: unknown
  [field: string]: unknown
}

export interface Page {
  /** The path from the repository root, with forward slashes. */
  path: string
  text: string
  bytes: number
  /** The YAML frontmatter of a site page. */
  frontmatter: Frontmatter
  blocks: Block[]
  /** Link targets in the repository: the path from the root, and the anchor, which may be empty. */
  links: { path: string; anchor: string }[]
  /** Files that the page links to by their GitHub URL, because the package doesn't include them. */
  repositoryLinks: string[]
  /** The anchors of the headings, as GitHub generates them. */
  anchors: string[]
}

const REPOSITORY = 'https://github.com/signalbox-dev/signalbox/blob/HEAD/'
const FENCE = /^(?:<!-- (.*) -->\n\n?)?```(\w*)(?: .*)?\n([\s\S]*?)^```$/gm
export const FRONTMATTER = /^---\n([\s\S]*?)^---\n/m

/** The folder that contains the site's pages. */
export const SITE = 'docs/src/content/docs/'
export const isOfSite = ({ path }: { path: string }) => path.startsWith(SITE)

/** Reads all documentation pages in the repository. */
export function readPages(): Page[] {
  return markdownFiles(root).map((file) => {
    const path = relative(root, file).split(sep).join('/')
    const text = readFileSync(file, 'utf8')
    const [head, yaml = ''] = (isOfSite({ path }) && FRONTMATTER.exec(text)) || ['']
    const prose = text.slice(head.length).replace(FENCE, '')
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
      ([, inline, named]) => inline ?? named,
    )
    return {
      path,
      text,
      bytes: Buffer.byteLength(text),
      frontmatter: parse(yaml) ?? {},
      blocks: [...text.matchAll(FENCE)].map(({ 1: note, 2: language = '', 3: code = '', index }) => {
        const line = text.slice(0, index).split('\n').length
        return { place: `${path}:${line}`, page: path, language, code, note }
      }),
      links: targets
        .filter((target) => target !== undefined && !/^https?:/.test(target))
        .map((target = '') => {
          const [file = '', anchor = ''] = target.split('#')
          return { path: file === '' ? path : join(dirname(path), file).split(sep).join('/'), anchor }
        }),
      repositoryLinks: targets
        .filter((target = '') => target.startsWith(REPOSITORY))
        .map((target = '') => target.slice(REPOSITORY.length)),
      anchors: [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading)),
    }
  })
}

const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Folders with generated or installed files. */
const NO_PAGES = /(?:^|\/)(?:node_modules|dist[^/]*|\.[^/]*)$|^docs\/src\/content\/docs\/typescript$/

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return entry.name.endsWith('.md') ? [path] : []
    return entry.isDirectory() && !NO_PAGES.test(path.slice(root.length).split(sep).join('/'))
      ? markdownFiles(path)
      : []
  })
}
