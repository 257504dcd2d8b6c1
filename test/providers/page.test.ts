import { readFileSync } from 'node:fs'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { assert, suite } from '../support/suite.ts'
import { prefixesOf, providerTable, servesChats } from './page.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const test = suite('the providers page')

test('the providers page has a row for each catalog provider that serves chat', () => {
  const [table] = /^\| Prefix [\s\S]*?(?=\n\n)/m.exec(read('docs/src/content/docs/reference/providers.md')) ?? []
  assert.is(table, providerTable(defaultCatalog), 'Run `node docs/references.ts`.')
})

test('the front page lists the prefixes of all catalog providers that serve chat, and no others', () => {
  const [, section = ''] = /## Providers\n([\s\S]*?)\n## /.exec(read('README.md')) ?? []
  const named = [...section.matchAll(/`([\w-]+)\/`/g)].map(([, prefix]) => prefix)
  const all = Object.entries(defaultCatalog).filter(([, definition]) => servesChats(definition))
  const prefixes = all.map(([id, definition]) => prefixesOf(id, definition)[0]).sort()
  assert.equal(named.sort(), prefixes, 'Add the prefixes to README.md, under Providers.')
})
