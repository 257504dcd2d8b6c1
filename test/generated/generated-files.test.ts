import { readFileSync } from 'node:fs'
import { updateRegions } from '../../docs/references.ts'
import { assert, suite } from '../support/suite.ts'
import { generateFiles, ignoreAlignment, root } from './generated-files.ts'

const test = suite('generated files')

test('every generated file and table is up to date', async () => {
  const files = await generateFiles()
  const outdated = [...files].filter(([path, text]) => {
    const current = readFileSync(new URL(path, root), 'utf8')
    return ignoreAlignment(current) !== ignoreAlignment(text)
  })
  assert.ok(files.size > 7, `only ${files.size} files were found`)
  assert.equal(
    outdated.map(([path]) => path),
    [],
    'Run npm run generate, and commit these files.',
  )
})

test('an unknown table name is rejected', async () => {
  await updateRegions('<!-- generated: nothing -->\n\nx\n\n<!-- end -->').then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /"nothing" is not a generated table: providers/),
  )
})
