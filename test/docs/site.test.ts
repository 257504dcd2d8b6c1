import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { assert, suite } from '../support/suite.ts'
import { isOfSite, readPages, SITE } from './pages.ts'

const pages = readPages().filter(isOfSite)
const FOLDERS = ['concepts', 'guides', 'migrate', 'project', 'reference', 'start', 'troubleshooting']

const test = suite('documentation site pages')

test('every page has a title and a description', () => {
  assert.ok(pages.length > 1, `only ${pages.length} pages were found`)
  for (const { path, frontmatter } of pages) {
    const { title, description } = frontmatter
    assert.ok(
      typeof title === 'string' && title.length > 1 && title.length <= 60,
      `${path} needs a title of 2 to 60 characters`,
    )
    const isDescribed = typeof description === 'string' && description.length >= 40 && description.length <= 160
    assert.ok(isDescribed, `${path} needs a description of 40 to 160 characters`)
  }
})

/** The formatter would move the lines of a nested value to the top level. */
test('the frontmatter of site pages has only known fields, each on one line', () => {
  const known = ['title', 'description', 'sidebar', 'template', 'hero', 'tableOfContents']
  const unknown = pages.flatMap(({ path, frontmatter }) =>
    Object.entries(frontmatter)
      .filter(([name, value]) => !known.includes(name) || value === null)
      .map(([name]) => `${path}: ${name}`),
  )
  assert.equal(unknown, [])
})

test('no two site pages have the same title', () => {
  const titles = pages.map(({ frontmatter }) => String(frontmatter.title))
  assert.equal([...new Set(titles)], titles)
})

test('no page repeats its title as a heading', () => {
  assert.equal(
    pages.filter(({ text }) => /^# /m.test(text.replace(/```[\s\S]*?```/g, ''))).map(({ path }) => path),
    [],
  )
})

test('every page is in a sidebar folder, and its name works as its URL', () => {
  const entries = readdirSync(fileURLToPath(new URL(`../../${SITE}`, import.meta.url)), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  assert.equal(
    folders.filter((name) => ![...FOLDERS, 'typescript'].includes(name)),
    [],
  )
  const name = new RegExp(`^(?:index|(?:${FOLDERS.join('|')})(?:/[a-z0-9-]+)+)\\.md$`)
  assert.equal(
    pages.filter(({ path }) => !name.test(path.slice(SITE.length))).map(({ path }) => path),
    [],
  )
})

/** Links to pages that only exist in the build can't be relative, because there is no file. */
test('links between site pages are relative, so they also work on GitHub', () => {
  assert.equal(
    pages
      .filter(({ text }) =>
        /\]\((?:https:\/\/signalbox-dev\.github\.io)?\/signalbox\/(?!reference\/api\/|typescript\/)/.test(text),
      )
      .map(({ path }) => path),
    [],
  )
})
