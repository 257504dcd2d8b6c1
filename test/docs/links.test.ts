import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert, suite } from '../support/suite.ts'
import { type Page, readPages, SITE } from './pages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = readPages()
const byPath = new Map(pages.map((page) => [page.path, page]))

/** Reference pages, which people look things up in rather than read from start to finish. */
const REFERENCES = ['docs/src/content/docs/concepts/security-model.md', 'src/README.md']
const LIMITS: Record<string, number> = { 'README.md': 12_000, 'CHANGELOG.md': 18_000, 'CONTRIBUTING.md': 6_000 }

/** Returns whether a page is for contributors. The package doesn't include these pages. */
const isForDevelopers = ({ path }: Page) =>
  path.startsWith('src/') ||
  path === 'adapters/storage/README.md' ||
  path.startsWith('test/') ||
  path.startsWith('docs/') || // the site's sidebar links to these
  path === 'CODE_OF_CONDUCT.md' ||
  path === 'CONTRIBUTING.md'
/** Returns whether the front page links to this page. If so, the page must link back. */
const isPart = (page: Page) =>
  !isForDevelopers(page) && !['README.md', 'CHANGELOG.md', 'NOTICES.md'].includes(page.path) && !isExample(page)
const isExample = ({ path }: Page) => /^examples\/[\w-]+\/README\.md$/.test(path)

const linksTo = (from: Page | undefined, path: string) => from?.links.some((link) => link.path === path) ?? false

const test = suite('links in the documentation')

test('every link points to an existing file, and every anchor to a heading', () => {
  assert.ok(pages.length > 120, `only ${pages.length} pages were found`)
  const broken = pages.flatMap((page) =>
    page.links
      .filter(({ path, anchor }) => {
        const target = byPath.get(path)
        return !existsSync(root + path) || (anchor !== '' && !target?.anchors.includes(anchor))
      })
      .map(({ path, anchor }) => `${page.path} -> ${path}#${anchor}`),
  )
  assert.equal(broken, [])
})

test('every link to a file on GitHub points to an existing file', () => {
  const links = pages.flatMap(({ path, repositoryLinks }) => repositoryLinks.map((to) => ({ path, to })))
  assert.ok(links.length > 2, `only ${links.length} were found`)
  assert.equal(
    links.filter(({ to }) => !existsSync(root + to)).map(({ path, to }) => `${path} -> ${to}`),
    [],
  )
})

test('the front page links to every user-facing page, and those pages link back', () => {
  const parts = pages.filter(isPart)
  assert.ok(parts.length > 1, `only ${parts.length} parts were found`)
  const front = byPath.get('README.md')
  assert.equal(
    parts.filter((part) => !linksTo(front, part.path)).map(({ path }) => `README.md does not link to ${path}`),
    [],
  )
  assert.equal(
    parts.filter((part) => !linksTo(part, 'README.md')).map(({ path }) => `${path} does not link back`),
    [],
  )
})

test('the examples page links to every example, and every example links back', () => {
  const list = byPath.get('examples/README.md')
  for (const example of pages.filter(isExample)) {
    assert.ok(linksTo(list, example.path), `examples/README.md does not link to ${example.path}`)
    assert.ok(linksTo(example, 'examples/README.md'), `${example.path} does not link back`)
  }
})

/** A generated table, whose length isn't up to the author. */
const GENERATED = /<!-- generated: [\s\S]*?<!-- end -->/g

test('no page exceeds its size limit', () => {
  const long = pages.filter(({ path, text }) => {
    const bytes = Buffer.byteLength(text.replace(GENERATED, ''))
    const limit = LIMITS[path] ?? (REFERENCES.includes(path) || path.startsWith(`${SITE}reference/`) ? 20_000 : 15_000)
    return bytes > limit
  })
  assert.equal(
    long.map(({ path, bytes }) => `${path} has ${bytes} bytes`),
    [],
  )
})

test('images on packaged pages exist in the repository, and have absolute URLs', () => {
  const packed = pages.filter(
    (page) => /^docs\//.test(page.path) || (page.path.startsWith('src/') && !isForDevelopers(page)),
  )
  let pictures = 0
  for (const { path } of packed) {
    const text = readFileSync(root + path, 'utf8')
    for (const [, address = ''] of text.matchAll(/(?:srcs?e?t?="|\]\()([^")\s]+\.(?:webp|png|svg|jpe?g|gif))/g)) {
      pictures++
      const isLocal = path.startsWith('docs/') && !address.startsWith('https:') // the site bundles this file
      if (!isLocal) assert.match(address, PICTURES, path)
      const file = isLocal ? join(dirname(path), address) : address.replace(PICTURES, '')
      assert.ok(existsSync(root + file), address)
    }
  }
  assert.ok(pictures > 0)
})

const PICTURES = /^https:\/\/raw\.githubusercontent\.com\/signalbox-dev\/signalbox\/HEAD\//
