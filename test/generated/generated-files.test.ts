import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { updateRegions } from '../../docs/references.ts'
import { assert, suite } from '../support/suite.ts'
import { generateCode, generatePages, ignoreAlignment, root } from './generated-files.ts'

const test = suite('generated files')

test('every generated file and table is up to date', async () => {
  const files = new Map([...(await generateCode()), ...(await generatePages())])
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

test("generating the code doesn't load the types that it replaces, which lack a new operation", () => {
  const generator = new URL('generated-files.ts', import.meta.url).href
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        if (url.endsWith('/result-types.data.ts')) throw new Error('The result types were loaded.')
        return next(url, context)
      },
    })
    const { generateCode } = await import('${generator}')
    await generateCode()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', 'pipe'] })
})

test('an unknown table name is rejected', async () => {
  await updateRegions('<!-- generated: nothing -->\n\nx\n\n<!-- end -->').then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /"nothing" is not a generated table: providers/),
  )
})
