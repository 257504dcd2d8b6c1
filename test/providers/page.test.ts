import { readFileSync } from 'node:fs'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'
import { getPrefixes, servesChats } from './page.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const test = suite('providers in the README')

test('the README lists exactly the prefixes of the catalog providers that support chat', () => {
  const [, section = ''] = /## Providers\n([\s\S]*?)\n## /.exec(read('README.md')) ?? []
  const named = [...section.matchAll(/`([\w-]+)\/`/g)].map(([, prefix]) => prefix)
  const all = Object.entries(defaultCatalog).filter(([, definition]) => servesChats(definition))
  const prefixes = all.map(([id, definition]) => getPrefixes(id, definition)[0]).sort()
  assert.equal(named.sort(), prefixes, 'Add the prefixes to README.md, under Providers.')
})
