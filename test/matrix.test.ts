import { existsSync, readFileSync } from 'node:fs'
import { entries } from '../tsup.config.ts'
import { matrixTable, RUNTIMES, STORES } from './matrix.ts'
import { assert, suite } from './support/suite.ts'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const REFERENCE = 'docs/src/content/docs/reference/'

const test = suite('the storage adapter matrix')

test('the storage adapter matrix matches the table on the storage page', () => {
  const [table] = /^\| Store [\s\S]*?(?=\n\n)/m.exec(read(`${REFERENCE}storage.md`)) ?? []
  assert.is(table, matrixTable())
})

test('the storage adapter matrix has a documented row for every adapter in the package', () => {
  const names = Object.keys(entries).flatMap((name) => /^storage\/(.+)/.exec(name)?.[1] ?? [])
  assert.equal(Object.keys(STORES).sort(), names.sort())
  const anchors = ['storage.md', 'serverless-stores.md'].flatMap((page) =>
    (read(REFERENCE + page).match(/(?<=^#+ ).+/gm) ?? []).map((heading) => {
      const anchor = heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-')
      return `${page === 'storage.md' ? '' : page}#${anchor}`
    }),
  )
  for (const [name, { section, cells }] of Object.entries(STORES)) {
    assert.ok(anchors.includes(section), `there is no section ${section}`)
    assert.ok(Object.keys(cells).length > 0, `${name} isn't tested in any runtime`)
  }
})

/** Each of these tests checks that every store in its runtime ran every test in the suite. In CI, none may be skipped. */
test('the storage adapter matrix has a test of all adapters for every runtime', () => {
  for (const [runtime, path] of Object.entries(RUNTIMES)) {
    assert.ok(existsSync(new URL(`../${path}`, import.meta.url)), path)
    assert.match(read(path), `'${runtime}'`)
  }
})
