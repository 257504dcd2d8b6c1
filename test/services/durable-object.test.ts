import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type DurableObjectNamespace, durableObjectStorage } from '../../adapters/storage/durable-object.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, suite } from '../support/suite.ts'

interface Miniflare {
  getDurableObjectNamespace(name: string): Promise<DurableObjectNamespace>
  dispose(): Promise<void>
}
type MakesMiniflare = new (options: object) => Miniflare
const require = createRequire(new URL('../runtimes/package.json', import.meta.url))
const { Miniflare } = require('miniflare') as { Miniflare: MakesMiniflare }

/** A Worker that exports the class, and passes time for an object by moving its clock. */
const { outputFiles } = await build({
  stdin: {
    contents: `
      import { SignalboxStore as Store } from './adapters/storage/durable-object.ts'
      const now = Date.now
      let ahead = 0
      Date.now = () => now() + ahead
      export class SignalboxStore extends Store {
        async fetch(request) {
          const ms = new URL(request.url).searchParams.get('pass')
          if (ms === null) return super.fetch(request)
          ahead += Number(ms)
          await this.alarm()
          return Response.json({})
        }
      }
      export default { fetch: () => new Response() }`,
    resolveDir: new URL('../..', import.meta.url).pathname,
  },
  bundle: true,
  format: 'esm',
  write: false,
})
/** Each write waits for the disk: memory in its place, where there is one, takes a tenth of the time. */
const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'signalbox-objects-'))
const miniflare = new Miniflare({
  durableObjectsPersist: folder,
  modules: true,
  compatibilityDate: '2026-06-01',
  script: outputFiles[0]?.text,
  durableObjects: { STORE: { className: 'SignalboxStore', useSQLite: true } },
})
const namespace = await miniflare.getDurableObjectNamespace('STORE')
let stores = 0

storageConformance('Durable Object', {
  has: ['increment'],
  create() {
    const name = `store-${++stores}`
    const open = () => durableObjectStorage(namespace, { name })
    const pass = (ms: number) =>
      namespace.get(namespace.idFromName(name)).fetch(`https://store/?pass=${ms}`, { method: 'POST', body: '' })
    return { storage: open(), reopen: open, passTime: async (ms) => void (await pass(ms)) }
  },
})

const test = suite('a Durable Object as a storage')

test.after(async () => {
  await miniflare.dispose()
  await rm(folder, { recursive: true, force: true })
})

test('an object that fails is an error with a name that says what to check', async () => {
  const failing = { idFromName: () => 1, get: () => ({ fetch: () => Promise.reject(new Error('no class')) }) }
  const error: { code?: string; message?: string } = await durableObjectStorage(failing)
    .get('key')
    .then(
      () => ({}),
      (thrown) => thrown,
    )
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message ?? '', /Check that the Worker exports SignalboxStore/)
})

test('what is no namespace is refused with what to pass', () => {
  assert.throws(() => Reflect.apply(durableObjectStorage, undefined, []), /durableObjectStorage takes a namespace/)
})
