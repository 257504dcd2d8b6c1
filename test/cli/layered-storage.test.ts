import { memoryStorage } from '../../adapters/storage/memory.ts'
import { overlayStorage } from '../../src/cli/demo/demo-providers.ts'
import { assert, suite } from '../support/suite.ts'

const layers = suite('a layered storage', { ...layered() })

layers.before.each((context) => void Object.assign(context, layered()))

layers('a layered storage reads from the top layer, and falls back to the base', async ({ both, top, base }) => {
  await top.set('a', 'top')
  await base.set('a', 'base')
  await base.set('b', 'base')
  assert.is((await both.get('a'))?.value, 'top')
  assert.is((await both.get('b'))?.value, 'base')
  assert.is(await both.get('c'), undefined)
})

layers(
  'a layered storage updates a record in its own layer, and creates records in the base',
  async ({ both, top, base }) => {
    const version = await top.set('a', '1')
    assert.is(await both.set('a', '2', { ifVersion: null }), false)
    assert.ok(await both.set('a', '2', { ifVersion: String(version) }))
    assert.ok(await both.set('b', '1', { ifVersion: null }))
    assert.equal(
      (await base.list('')).map(({ key }) => key),
      ['b'],
    )
    assert.ok(await both.delete('a'))
    assert.is(await both.delete('a'), false)
    assert.equal(await top.list(''), [])
  },
)

layers('a layered storage lists both layers in key order, page by page', async ({ both, top, base }) => {
  for (const key of ['p/a', 'p/c', 'p/e', 'x']) await base.set(key, 'base')
  for (const key of ['p/b', 'p/c', 'p/f', 'y']) await top.set(key, 'top')
  const rows = (await both.list('p/')).map(({ key, value }) => `${key}=${value}`)
  assert.equal(rows, ['p/a=base', 'p/b=top', 'p/c=top', 'p/e=base', 'p/f=top'])
  const paged: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await both.list('p/', { limit: 2, ...(after === undefined ? {} : { after }) })
    paged.push(...page.map(({ key, value }) => `${key}=${value}`))
    after = page.at(-1)?.key
    if (page.length < 2) break
  }
  assert.equal(paged, rows)
})

function layered() {
  const top = memoryStorage()
  const base = memoryStorage()
  return { top, base, both: overlayStorage(top, base) }
}
