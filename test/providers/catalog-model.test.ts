import { getCatalogModel, getContextWindow } from '../../src/protocols/providers/catalog-model.ts'
import type { Catalog } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('catalog models')

const catalog: Catalog = {
  one: { models: [{ id: 'a', contextWindow: 8 }, { id: 'b' }, { id: 'a', contextWindow: 16 }] },
  bare: {},
}

test('catalog models are looked up by provider and ID, and the first duplicate wins', () => {
  assert.is(getCatalogModel(catalog, { provider: 'one', model: 'a' })?.contextWindow, 8)
  assert.is(getCatalogModel(catalog, { provider: 'one', model: 'b' })?.id, 'b')
  for (const provider of ['one', 'bare', 'none', 'constructor'])
    assert.is(getCatalogModel(catalog, { provider, model: 'c' }), undefined)
})

test("the context window is undefined if the catalog doesn't list one", () => {
  const getWindow = (model: string) => getContextWindow(catalog, { provider: 'one', model })
  assert.equal(['a', 'b', 'c'].map(getWindow), [8, undefined, undefined])
})
