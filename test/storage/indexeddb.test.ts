import { indexeddbStorage } from '../../adapters/storage/indexeddb.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('the IndexedDB storage outside a browser')

test('outside a browser, IndexedDB storage accepts a name, and rejects invalid options', () => {
  assert.type(indexeddbStorage().get, 'function')
  assert.throws(() => indexeddbStorage({ name: '' }), /name must be/)
  assert.throws(() => Reflect.apply(indexeddbStorage, undefined, [{ nmae: 'app' }]), /nmae is not an option/)
})

test('outside a browser, IndexedDB storage rejects with an error that says where it works', async () => {
  const storage = indexeddbStorage({ name: 'app' })
  for (const action of [() => storage.get('key'), () => storage.set('key', 'value'), () => storage.ownSecret?.()]) {
    const error = await Promise.resolve(action()).then(
      () => ({ code: 'none', message: '' }),
      (error: { code: string; message: string }) => error,
    )
    assert.is(error.code, 'STORAGE_UNREADABLE')
    assert.match(error.message, /"app" only works in a browser page or worker/)
  }
  await storage.close?.()
})
