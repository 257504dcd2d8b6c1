import { readFileSync } from 'node:fs'
import { providerFormats, strategies } from '../src/types/unions.ts'
import { assert, suite } from './support/suite.ts'

const test = suite('the names that users write')

/** The names that begin the rows of the tables of a file. */
function rowsOf(file: string): string[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^\| `([\w-]+)`/gm)].map(([, name = '']) => name)
}

test('each strategy has a row in src/routing/README.md', () => {
  const rows = rowsOf('src/routing/README.md')
  assert.equal(
    strategies.filter((name) => !rows.includes(name)),
    [],
  )
})

test('each format has a row in src/formats/README.md', () => {
  const rows = rowsOf('src/formats/README.md')
  assert.equal(
    providerFormats.filter((name) => !rows.includes(name)),
    [],
  )
})
