import { createRequire } from 'node:module'
import { type KvNamespace, kvStorage } from '../../adapters/storage/kv.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, suite } from '../support/suite.ts'

interface Miniflare {
  getKVNamespace(name: string): Promise<KvNamespace>
  dispose(): Promise<void>
}
type MakesMiniflare = new (options: object) => Miniflare
const require = createRequire(new URL('../runtimes/package.json', import.meta.url))
const { Miniflare } = require('miniflare') as { Miniflare: MakesMiniflare }

const miniflare = new Miniflare({ modules: true, script: 'export default {}', kvNamespaces: ['KV'] })
const namespace = await miniflare.getKVNamespace('KV')
let stores = 0

storageConformance('Workers KV', {
  atomic: false,
  has: [],
  create({ clock }) {
    const prefix = `store-${++stores}/`
    return { storage: kvStorage(namespace, { prefix, clock }), reopen: () => kvStorage(namespace, { prefix, clock }) }
  },
})

const test = suite('Workers KV as a storage')

test.after(() => miniflare.dispose())

test('a namespace that fails is an error with a name that says what may help', async () => {
  const failing = { ...namespace, getWithMetadata: () => Promise.reject(new Error('KV GET failed: 429')) }
  const error: { code?: string; message?: string } = await kvStorage(Object.assign(Object.create(namespace), failing))
    .get('key')
    .then(
      () => ({}),
      (thrown) => thrown,
    )
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message ?? '', /one write a second/)
})

test('what is no namespace is refused with what to pass', () => {
  assert.throws(() => Reflect.apply(kvStorage, undefined, []), /kvStorage takes a KV namespace/)
})
