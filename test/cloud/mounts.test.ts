import { serveNode } from '../../adapters/mount/node.ts'
import { toWorkersHandler } from '../../adapters/mount/workers.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { paths } from '../../src/features/cloud-sync/protocol.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { createClient } from './support/client.ts'
import { createHome } from './support/gateway.ts'
import { ENROLLMENT_TOKEN, openProxy } from './support/proxy.ts'
import { keyState, settingsState } from './support/states.ts'

const test = suite('a cloud proxy behind adapters and on different stores')

test('a cloud proxy runs with serveNode like a gateway', async () => {
  const { proxy } = openProxy()
  const server = await serveNode(proxy, { port: 0 })
  try {
    const target = {
      fetch: async (request: Request) => {
        const { pathname, search } = new URL(request.url)
        const body = request.method === 'GET' ? undefined : await request.text()
        const { method, headers } = request
        return fetch(`${server.url}${pathname}${search}`, { method, headers, ...(body && { body }) })
      },
    }
    const client = await createClient(target)
    assert.is((await client.open(ENROLLMENT_TOKEN)).status, 200)
    const { value, state } = await keyState('one')
    await createHome(client).enable([state])
    const models = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${value}` } })
    assert.is(models.status, 200)
    const large = await client.signed('POST', paths.replica, {})
    assert.is((await client.send({ ...large, body: 'x'.repeat(9 * 1024 * 1024) })).status, 413)
    assert.is((await fetch(`${server.url}/api/keys`)).status, 404)
    assert.is((await fetch(`${server.url}/cloud/1`, { method: 'HEAD' })).status, 401)
  } finally {
    await server.close()
    await proxy.close()
  }
})

test('a cloud proxy runs as a Worker', async () => {
  const { proxy } = openProxy()
  const handler = toWorkersHandler(() => proxy)
  const response = await handler.fetch(new Request('http://proxy.test/cloud/1'), {}, { waitUntil() {} })
  assert.equal(await response.json(), { service: 'signalbox-cloud', protocol: 1 })
})

/** Creates a store like Workers KV: not atomic, without change reports, and limited to one write per key per second. */
function slowStorage(now: () => number, onRefused: () => void): Storage {
  const { get, set, delete: remove, list } = memoryStorage({ clock: { now } })
  const writtenAt = new Map<string, number>()
  async function write<T>(key: string, action: () => Promise<T>): Promise<T> {
    if (now() - (writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < 1_000) {
      onRefused()
      throw Object.assign(new Error('KV PUT failed: 429'), { code: 'STORAGE_UNREACHABLE' })
    }
    writtenAt.set(key, now())
    return action()
  }
  return {
    atomic: false,
    get,
    list,
    set: (key, ...rest) => write(key, () => set(key, ...rest)),
    delete: (key, ...rest) => write(key, () => remove(key, ...rest)),
  }
}

test('a cloud proxy works on a non-atomic store that accepts one write per key per second', async () => {
  let isDone = false
  let rejections = 0
  const clock = fakeClock()
  const world = openProxy({ clock, storage: slowStorage(clock.now, () => rejections++) })
  const promise = (async () => {
    const home = createHome(await createClient(world.server))
    await home.open()
    const { value, state } = await keyState('one')
    const { verdicts } = await home.enable([settingsState(true), state])
    assert.equal(verdicts, ['taken', 'taken'])
    const headers = { authorization: `Bearer ${value}` }
    assert.is((await world.proxy.fetch(new Request('http://proxy.test/v1/models', { headers }))).status, 200)
    await home.disable()
    assert.equal((await world.proxy.tenants.list()).tenants, [])
  })().finally(() => {
    isDone = true
  })
  for (let waited = 0; !isDone; ) {
    const seen = rejections
    await clock.advance(waited < seen ? 1_100 : 0) // time only passes for calls that wait for it
    waited = seen
  }
  await promise
  assert.ok(rejections > 0)
})
