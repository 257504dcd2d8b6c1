import { formatErrorRows } from '../../src/admin/http/openapi/error-codes.ts'
import { openManagement } from '../management/open-management.ts'
import { assert, suite } from '../support/suite.ts'
import { readPages } from './pages.ts'

const test = suite('the error code table')

/** Returns the table rows without the spaces that align their cells. */
const readRows = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^\| `[A-Z_]+` +\| \d{3} /.test(line))
    .map((line) => line.replace(/ +\|/g, ' |'))
    .sort()

test('the page on API errors lists every code with its status, cause, and fix', () => {
  const page = readPages().find(({ path }) => path === 'docs/src/content/docs/reference/error-codes.md')
  assert.equal(readRows(page?.text ?? ''), formatErrorRows().sort())
})

test('the OpenAPI document contains the same table', async () => {
  const { info } = await openManagement().gateway.api.openapi()
  assert.equal(readRows(String(info.description)), formatErrorRows().sort())
})
