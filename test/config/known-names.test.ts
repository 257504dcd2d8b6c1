import { readFile, writeFile } from 'node:fs/promises'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { getProviderNames } from '../../src/protocols/providers/provider-names.ts'
import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('names that editors complete')

const FILE = new URL('../../src/config/known-names.data.ts', import.meta.url)

function generate(): string {
  const providers = Object.keys(defaultCatalog)
  const models = providers.flatMap((provider) => {
    const { output } = getProviderNames(defaultCatalog, { provider })
    return (defaultCatalog[provider]?.models ?? []).map(({ id }) => `${output}/${id}`)
  })
  const union = (names: readonly string[]) =>
    [...new Set(names)].map((name) => `  | ${JSON.stringify(name).replaceAll('"', "'")}`).join('\n')
  return `/* Generated from the catalog by test/config/known-names.test.ts. Don't edit it. */
// biome-ignore-all format: one name a line

/** The providers in the catalog. */
export type KnownProvider =
${union(providers)}

/** The models in the catalog. */
export type KnownModel =
${union(models)}
`
}

test('src/config/known-names.data.ts contains the providers and models of the catalog', async () => {
  const text = generate()
  const isCurrent = (await readFile(FILE, 'utf8').catch(() => '')) === text
  if (!isCurrent && !isCi) await writeFile(FILE, text)
  assert.ok(isCurrent, 'The file was out of date. This test has rewritten it: run it again, and commit the file.')
})
