import { readFile, writeFile } from 'node:fs/promises'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { generateOperationData } from './operation-data.ts'

const test = suite('the data of the operation table')

for (const [path, text] of generateOperationData()) {
  test(`${path} matches the operation table`, async () => {
    const file = new URL(`../../${path}`, import.meta.url)
    const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text
    if (!isCurrent && !isCi) await writeFile(file, text)
    assert.ok(isCurrent, `${path} was out of date. This test has rewritten it: run it again, and commit the file.`)
  })
}
