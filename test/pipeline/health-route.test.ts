import { readFile } from 'node:fs/promises'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { VERSION } from '../../src/lib/version.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { never } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('GET /health')

const ok = { status: 'ok', version: VERSION }

/** Opens a gateway on a store with reads that can fail or hang. */
async function open(options: { basePath?: string; allowedOrigins?: string[] } = {}) {
  const clock = fakeClock()
  const memory = memoryStorage({ clock })
  let read: Storage['get'] = memory.get
  const storage: Storage = { ...memory, get: (key) => read(key) }
  const world = await openWorld({ clock, storage, ...options })
  let reads = 0
  const send = (path = '/health', init: RequestInit = {}) =>
    world.gateway.fetch(new Request(`http://gateway${path}`, init))
  return {
    ...{ world, clock, send },
    reads: () => reads,
    readBy: (next: Storage['get']) => {
      read = (key) => {
        reads++
        return next(key)
      }
    },
    memory,
  }
}

test('the version in the response matches package.json', async () => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  assert.is(VERSION, manifest.version)
})

for (const basePath of ['', '/ai']) {
  test(`a gateway at "${basePath}" returns 200 without a credential, and no body for HEAD`, async () => {
    const { world, send } = await open({ basePath })
    await world.api.settings.update({ requireApiKey: true })
    const response = await send(`${basePath}/health`)
    assert.is(response.status, 200)
    assert.is(response.headers.get('content-type'), 'application/json')
    assert.is(response.headers.get('cache-control'), 'no-store')
    assert.equal(await response.json(), ok)
    const head = await send(`${basePath}/health`, { method: 'HEAD' })
    assert.equal([head.status, await head.text()], [200, ''])
  })

  test(`a gateway at "${basePath}" leaves paths below /health, and other spellings of it, to your app`, async () => {
    const { world } = await open({ basePath })
    const url = (path: string) => `http://gateway${basePath}${path}`
    assert.is((await world.gateway.handle(new Request(url('/health'))))?.status, 200)
    assert.is(world.gateway.matches(url('/health')), true)
    for (const path of ['/health/', '/health/live', '/healthz', '/Health', '/%68ealth', '//health', '/health%2f']) {
      assert.is(await world.gateway.handle(new Request(url(path))), undefined, path)
      assert.is(world.gateway.matches(url(path)), false, path)
    }
    assert.is(world.gateway.matches('http://gateway/health'), basePath === '')
  })
}

test('/health allows only GET, HEAD, and OPTIONS, and no response has CORS headers', async () => {
  const origin = 'https://app.example'
  const { send } = await open({ allowedOrigins: [origin] })
  for (const [method, status] of [
    ['GET', 200],
    ['HEAD', 200],
    ['OPTIONS', 204],
    ['POST', 405],
    ['PUT', 405],
    ['PATCH', 405],
    ['DELETE', 405],
  ] as const) {
    const response = await send('/health', { method, headers: { origin, 'access-control-request-method': 'GET' } })
    assert.is(response.status, status, method)
    assert.is(response.headers.get('allow'), status === 200 ? null : 'GET, HEAD, OPTIONS', method)
    const cors = [...response.headers.keys()].filter((name) => name.startsWith('access-control-'))
    assert.equal(cors, [], method)
  }
})

test('/health returns a 503 while the gateway is closing and after it has closed', async () => {
  const { world, send } = await open()
  const pending = world.chat({}) // fails because there is no network
  const closing = world.gateway.close()
  const response = await send()
  assert.is(response.status, 503)
  assert.equal(await response.json(), { status: 'closing', version: VERSION })
  await Promise.all([pending, closing])
  assert.is((await send()).status, 503)
})

test('/health returns a 503 if the gateway starts closing during the storage read', async () => {
  const { world, send, readBy, memory } = await open()
  let resume = () => {}
  readBy(async (key) => {
    await new Promise<void>((resolve) => {
      resume = resolve
    })
    return memory.get(key)
  })
  const pending = send()
  await world.clock.advance(0)
  const closing = world.gateway.close()
  resume()
  assert.equal(await (await pending).json(), { status: 'closing', version: VERSION })
  await closing
})

test("/health returns a 503 if the storage can't be read, reports the failure once, and recovers", async () => {
  const { world, clock, send, readBy, memory } = await open()
  assert.is((await send()).status, 200)
  readBy(() => Promise.reject(new Error('the disk is gone')))
  assert.is((await send()).status, 200, 'the last result is reused for a second')
  for (let time = 0; time < 3; time++) {
    await clock.advance(1_000)
    const response = await send()
    assert.is(response.status, 503)
    const text = await response.text()
    assert.equal(JSON.parse(text), { status: 'store unreadable', version: VERSION })
  }
  assert.is(world.recorded.errors.length, 1)
  assert.match(String((world.recorded.errors[0] as Error).cause), 'the disk is gone')
  readBy(memory.get)
  await clock.advance(1_000)
  assert.equal(await (await send()).json(), ok)
})

test('damaged settings count as unreadable storage', async () => {
  const { send, memory } = await open()
  await memory.set('settings', '{')
  assert.is((await send()).status, 503)
})

test('a storage that hangs counts as unreadable after two seconds', async () => {
  const { clock, send, readBy } = await open()
  readBy(never)
  let status = 0
  const pending = send().then((response) => {
    status = response.status
  })
  await clock.advance(1_999)
  assert.is(status, 0)
  await clock.advance(1)
  await pending
  assert.is(status, 503)
  await clock.advance(5_000) // until the gateway stops waiting for the read
  assert.is(clock.pending(), 0)
})

test('concurrent health checks share one storage read', async () => {
  const { send, readBy, reads, memory } = await open()
  readBy(memory.get)
  const responses = await Promise.all(Array.from({ length: 50 }, () => send()))
  assert.ok(responses.every(({ status }) => status === 200))
  assert.is(reads(), 1)
})
