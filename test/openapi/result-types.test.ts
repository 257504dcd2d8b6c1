import { readFile, writeFile } from 'node:fs/promises'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import { generateResultTypes, RESULT_TYPES } from './result-types.ts'

const test = suite('result types in the OpenAPI document')

test('the data file matches the types that operations resolve to', async () => {
  const text = await generateResultTypes()
  const file = new URL(`../../${RESULT_TYPES}`, import.meta.url)
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text
  if (!isCurrent && !isCi) await writeFile(file, text)
  assert.ok(
    isCurrent,
    `${RESULT_TYPES} was out of date. This test has rewritten it: run it again, and commit the file.`,
  )
})
