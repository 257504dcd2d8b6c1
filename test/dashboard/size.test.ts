import { gzipSync } from 'node:zlib'
import { pageFiles } from '../../dashboard.config.ts'
import { assert, suite } from '../support/suite.ts'

/** In bytes after `gzip -9`. */
const BUDGETS = { all: 60_000, first: 26_000 }

const test = suite('dashboard size')

test('the dashboard stays within its size budgets, in total and for the first page', async () => {
  const files = await pageFiles()
  const measureSize = (name: string) => gzipSync(files[name]?.text ?? '', { level: 9 }).byteLength
  const all = Object.keys(files).reduce((sum, name) => sum + measureSize(name), 0)
  const first = [...firstFiles(files)].reduce((sum, name) => sum + measureSize(name), 0)
  console.log(
    `  the dashboard: ${all} of ${BUDGETS.all} bytes gzipped, ${first} of ${BUDGETS.first} until the first page shows`,
  )
  assert.ok(all <= BUDGETS.all, `all files are ${all} bytes`)
  assert.ok(first <= BUDGETS.first, `the first page is ${first} bytes`)
})

test("the dashboard's first page needs only one script and one style sheet", async () => {
  const names = [...firstFiles(await pageFiles())].map((name) => name.replace(/.*\./, ''))
  assert.equal(names.sort(), ['', 'css', 'js'])
})

/** Returns the document, the files that it references, and their static imports. */
function firstFiles(files: Awaited<ReturnType<typeof pageFiles>>): Set<string> {
  const wanted = new Set([''])
  for (const name of wanted) {
    const { text = '' } = files[name] ?? {}
    for (const [, found = ''] of text.matchAll(/(?:src|href)="(a\/[^"]+)"/g)) wanted.add(found)
    for (const [, found = ''] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) wanted.add(`a/${found}`)
  }
  return wanted
}
