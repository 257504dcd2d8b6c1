import { updateRegions } from '../../docs/references.ts'
import { assert, suite } from '../support/suite.ts'
import { isOfSite, readPages } from './pages.ts'

const test = suite('the tables on the reference pages')

/** Removes the spaces and dashes that align the columns. */
const normalize = (text: string) => text.replace(/ +\|/g, ' |').replace(/-{3,}/g, '---')

test("every table between `<!-- generated -->` and `<!-- end -->` matches the code's output", async () => {
  const pages = readPages().filter((page) => isOfSite(page) && page.text.includes('<!-- generated: '))
  assert.ok(pages.length > 3, `only ${pages.length} pages were found`)
  for (const { path, text } of pages)
    assert.is(normalize(text), normalize(await updateRegions(text)), `${path}: run \`node docs/references.ts\``)
})

test('an unknown table name is rejected', async () => {
  await updateRegions('<!-- generated: nothing -->\n\nx\n\n<!-- end -->').then(
    () => assert.unreachable(),
    (error: Error) => assert.match(error.message, /"nothing" is not a generated table: providers/),
  )
})
