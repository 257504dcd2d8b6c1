import type { Storage } from '../../src/types.ts'
import { changeCatalog, findModel, openCatalog } from '../catalog/world.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

/** Tests that a store shares copies of a refreshed catalog among all gateways that use it. */
export function catalogCopies(
  name: string,
  open: () => Promise<{ storage: Storage; destroy(): Promise<void> | void }>,
): void {
  const test = suite(`a refreshed catalog in ${name}`)

  test('the storage keeps a large copy and the previous one, and all gateways use them', async () => {
    const { storage, destroy } = await open()
    try {
      const clock = fakeClock()
      const many = Object.fromEntries(
        Array.from({ length: 3_000 }, (_, index) => [`model-ü-${index}`, { input: 1, output: 2 }]),
      )
      let source = changeCatalog(many)
      const first = await openCatalog(async () => source, { storage, clock })
      await first.send()
      const other = await openCatalog(() => new Promise(() => {}), { storage, clock })
      // A gateway reads the copy in the background, which takes a while on a busy machine.
      for (let requests = 0; requests < 100 && !(await findModel(other, 'model-ü-2999')); requests++) await other.send()
      assert.is((await findModel(other, 'model-ü-2999'))?.price?.input, 1)

      source = changeCatalog({ ...many, a: { input: 11, output: 20 }, b: { input: 0, output: 20 } })
      const { held } = await first.api.catalog.refresh()
      assert.equal(
        held.map(({ model }) => model),
        ['one/b'],
      )
      const { current, previous } = await other.api.catalog.review()
      assert.is((await findModel(other, 'a'))?.price?.input, 11)
      await other.api.catalog.accept({ models: ['one/b'] })
      assert.equal((await first.api.catalog.review()).held, [])

      const parts = (await storage.list('catalog/data/')).map(({ key }) => key)
      assert.ok(parts.length >= 2 && parts.every((key) => key.length < 100), `${parts}`)
      await first.api.catalog.rollback()
      await first.api.catalog.rollback()
      await other.api.catalog.review()
      assert.is((await findModel(other, 'a'))?.price?.input, 10)
      assert.ok(current && previous && current.sha256 !== previous.sha256)
      for (const { gateway } of [first, other]) await gateway.close()
    } finally {
      await destroy()
    }
  })
}
