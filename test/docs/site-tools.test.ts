import { existsSync, readFileSync } from 'node:fs'
import { assert, suite } from '../support/suite.ts'
import { isOfSite, readPages, SITE } from './pages.ts'

/** Imports a module of the site, which has its own packages and no types. */
const load = (name: string) => import(new URL(`../../docs/${name}`, import.meta.url).href)

const test = suite('documentation site tools')

for (const [link, url] of [
  ['fallbacks.md', '/signalbox/guides/fallbacks/'],
  ['../reference/cli.md#options', '/signalbox/reference/cli/#options'],
  ['../reference/model-kinds/web.md', '/signalbox/reference/model-kinds/web/'],
  ['../index.md', '/signalbox/'],
  ['../../../../../CHANGELOG.md', 'https://github.com/signalbox-dev/signalbox/blob/HEAD/CHANGELOG.md'],
  ['#limits', '#limits'],
  ['https://example.com/a.md', 'https://example.com/a.md'],
  ['mailto:a@example.com', 'mailto:a@example.com'],
] as const)
  test(`a link to ${link} becomes ${url}`, async () => {
    const { toUrl } = await load('links.mjs')
    assert.is(toUrl(link, `${SITE}guides/budgets.md`), url)
  })

test('llms.txt has the same titles and descriptions as the site', async () => {
  const { readSitePages }: { readSitePages(): { name: string; title: string; description: string }[] } =
    await load('pages.mjs')
  const read = readSitePages().map(({ name, title, description }) => [SITE + name, title, description])
  const expected = readPages()
    .filter(isOfSite)
    .map(({ path, frontmatter: { title, description } }) => [path, String(title), String(description)])
  assert.equal(read.toSorted(), expected.toSorted())
})

test('the published version is the newest release, not a prerelease', async () => {
  const { findNewestRelease } = await load('versions.mjs')
  assert.is(findNewestRelease(['v0.2.0', 'v0.10.0', 'v0.9.1', 'v1.0.0-alpha.1', '']), 'v0.10.0')
  assert.is(findNewestRelease(['v1.0.0-alpha.1']), undefined)
})

test('the site serves its own copies of the dashboard images', async () => {
  const { useLocalPictures } = await load('pictures.mjs')
  const urls = readPages()
    .filter(isOfSite)
    .flatMap(({ text }) => text.match(/https:\/\/raw\.githubusercontent\.com\/[^"\s)]+/g) ?? [])
  assert.ok(urls.length > 0, 'no page has an image of the dashboard')
  for (const url of urls) {
    const path = new URL(
      `../../src/features/dashboard/${useLocalPictures(url).replace('/signalbox/', '')}`,
      import.meta.url,
    )
    assert.ok(existsSync(path), url)
  }
})

test('search results rank generated pages below written ones', async () => {
  const { lowerWeight } = await load('search.mjs')
  assert.is(
    lowerWeight('<main data-pagefind-body lang="en">'),
    '<main data-pagefind-body data-pagefind-weight="0.3" lang="en">',
  )
})

test('the benchmark page and the front page have the same numbers', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const rows = read('../../README.md').match(/^\| (?:Added latency|JSON responses|CPU time|Peak memory).*$/gm) ?? []
  assert.is(rows.length, 5)
  for (const row of rows) assert.ok(read('../../docs/src/content/docs/project/benchmarks.md').includes(row), row)
})

test('the architecture image is what its script draws', async () => {
  const { drawArchitecture } = await load('draw-architecture.mjs')
  const image = readFileSync(new URL('../../docs/src/assets/architecture.svg', import.meta.url), 'utf8')
  assert.is(image, drawArchitecture(), 'Run `node docs/draw-architecture.mjs`.')
})
