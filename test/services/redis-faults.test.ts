import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/index.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { isRedisWrite, startProxy } from './fault-proxy.ts'
import { openClient, PACKAGES } from './redis-clients.ts'
import { startRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await startRedis()
const test = suite('Redis failures')
test.after(() => server.remove())
let stores = 0

/** Two stores on the same data, each with its own client. The first client uses `url`. */
async function open(name: (typeof PACKAGES)[number], url = server.url) {
  const prefix = `faults ${++stores}`
  const clients = [await openClient(name, url), await openClient('redis', server.url)] as const
  const [storage, other] = [redisStorage(clients[0].client, { prefix }), redisStorage(clients[1].client, { prefix })]
  return {
    ...{ storage, other, root: `{${prefix}}:`, command: clients[1].command },
    async close() {
      for (const item of [storage, other]) await item.close?.()
      for (const { end } of clients) end()
    },
  }
}

async function until(isTrue: () => boolean, withinMs: number, label: string): Promise<number> {
  const startedAt = performance.now()
  while (!isTrue()) {
    if (performance.now() - startedAt > withinMs) throw new Error(`waited ${withinMs} ms for ${label}`)
    await sleep(5)
  }
  return performance.now() - startedAt
}

/** Collects the changes that a store reports to its watcher. */
async function listen(storage: Storage) {
  const recorded = { keys: [] as string[], gaps: 0 }
  storage.watch?.(
    (key) => void recorded.keys.push(key),
    () => void recorded.gaps++,
  )
  await sleep(300)
  return recorded
}

const getError = (promise: Promise<unknown>): Promise<{ code?: string; message?: string }> =>
  promise.then(
    () => ({}),
    (error) => error,
  )

for (const name of PACKAGES) {
  test(`failing Redis: each of 24 increments takes effect exactly once when ${name} loses replies`, async () => {
    const proxy = await startProxy(server.port, isRedisWrite)
    const { storage, other, close } = await open(name, `redis://127.0.0.1:${proxy.port}`)
    await storage.increment?.('warm', 1)
    proxy.is('loses')
    const totals: number[] = []
    for (let count = 0; count < 24; count++) totals.push((await storage.increment?.('count', 1)) ?? 0)
    assert.equal(
      totals,
      Array.from({ length: 24 }, (_, index) => index + 1),
    )
    assert.ok(proxy.lost() >= 8, 'too few replies were lost')
    const version = await storage.set('key', 'value', { ifVersion: null })
    assert.equal(await other.get('key'), { value: 'value', version })
    proxy.is('none')
    assert.is((await other.get('count'))?.value, '24')
    await close()
    proxy.close()
  })

  test(`no acknowledged write through ${name} is lost or duplicated when Redis is killed under load`, async () => {
    const { storage, other, close } = await open(name)
    const recorded = await listen(storage)
    const acknowledged: string[] = []
    let steps = 0
    let failures = 0
    let isOver = false
    const lane = async (lane: number) => {
      for (let count = 0; !isOver; count++) {
        const key = `key/${lane}/${count}`
        await storage.set(key, key, { ifVersion: null }).then(
          () => void acknowledged.push(key),
          () => {},
        )
        await storage.increment?.('count', 1).then(
          () => void steps++,
          () => void failures++,
        )
      }
    }
    const lanes = [0, 1, 2, 3].map(lane)
    await sleep(300)
    await server.kill()
    await sleep(5_000)
    assert.ok(failures > 0)
    await server.start()
    const back = steps
    await until(() => steps > back + 20, 5_000, 'writes after the restart')
    isOver = true
    await Promise.all(lanes)
    await until(() => recorded.keys.includes(acknowledged.at(-1) ?? ''), 3_000, 'the last change')
    const count = Number((await other.get('count'))?.value)
    assert.ok(count >= steps && count <= steps + failures, `${count} of ${steps} and ${failures} failures`)
    const kept = new Set((await other.list('key/')).map(({ key }) => key))
    assert.equal(
      acknowledged.filter((key) => !kept.has(key)),
      [],
    )
    await sleep(500)
    assert.is((await other.get('count'))?.value, String(count))
    await close()
  })

  test(`writes through ${name} fail within six seconds while Redis is stopped, and aren't applied later`, async () => {
    const { storage, other, close } = await open(name)
    await storage.set('key', 'before')
    const recorded = await listen(storage)
    server.signal('SIGSTOP')
    const startedAt = performance.now()
    const error = await getError(storage.set('key', 'late'))
    assert.is(error.code, 'STORAGE_UNREACHABLE')
    assert.match(error.message ?? '', /The Redis store "faults \d+" is unreachable/)
    assert.is((await getError(storage.get('key'))).code, 'STORAGE_UNREACHABLE')
    const ms = performance.now() - startedAt
    assert.ok(ms < 6_000, `${ms} ms`)
    await sleep(Math.max(0, 6_000 - ms))
    server.signal('SIGCONT')
    await sleep(100)
    await other.set('another', 'value').catch(() => other.set('another', 'value'))
    await until(() => recorded.keys.includes('another'), 3_000, 'a change after the server continues')
    assert.is((await other.get('key'))?.value, 'before')
    await close()
  })

  test(`failing Redis: changes made while ${name}'s connections were silently dead are reported with their keys`, async () => {
    const proxy = await startProxy(server.port, isRedisWrite)
    const { storage, other, close } = await open(name, `redis://127.0.0.1:${proxy.port}`)
    await storage.set('kept', 'value')
    const recorded = await listen(storage)
    proxy.is('swallows')
    await other.set('blind', 'value')
    await sleep(5_000)
    assert.not.ok(recorded.keys.includes('blind'))
    proxy.is('none')
    await until(() => recorded.keys.includes('blind'), 3_000, 'the change')
    assert.not.ok(recorded.keys.includes('kept'))
    await close()
    proxy.close()
  })
}

test('failing Redis: a trimmed or removed change stream causes a gap and reports every existing key', async () => {
  const { storage, other, root, command, close } = await open('ioredis')
  await other.set('one', '1')
  await other.set('two', '2')
  const recorded = await listen(storage)
  await until(() => recorded.gaps === 0, 100, 'no gap')
  for (const [remove, count] of [
    [['DEL', `${root}s`], 1],
    [['XTRIM', `${root}s`, 'MAXLEN', '0'], 2],
  ] as const) {
    recorded.keys.length = 0
    await command(...remove)
    await until(() => recorded.gaps === count && recorded.keys.length === 2, 3_000, `gap ${count}`)
    assert.equal(recorded.keys, ['one', 'two'])
    await other.set('one', '3')
    await until(() => recorded.keys.length === 3, 1_000, 'the next change')
  }
  await close()
})

test("failing Redis: the adapter closes only its connection, not the app's", async () => {
  for (const name of PACKAGES) {
    const { client, command, isOpen, end } = await openClient(name, server.url)
    const connections = async () =>
      String(await command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length
    const before = await connections()
    const storage = redisStorage(client)
    await listen(storage)
    assert.is(await connections(), before + 1)
    await storage.close?.()
    await sleep(200)
    assert.is(await connections(), before)
    assert.ok(isOpen())
    assert.is((await getError(storage.get('key'))).code, 'STORAGE_CLOSED')
    end()
  }
})

test("failing Redis: another program's strings are readable, and other types cause errors without values", async () => {
  const { storage, root, command, close } = await open('ioredis')
  await command('SET', `${root}k:text`, 'sk-secret')
  await command('RPUSH', `${root}k:list`, 'sk-secret')
  assert.is((await storage.get('text'))?.value, 'sk-secret')
  const errors = [await getError(storage.get('list')), await getError(storage.set('list', 'sk-secret'))]
  assert.equal(
    errors.map(({ code }) => code),
    ['STORAGE_UNREADABLE', 'STORAGE_UNREADABLE'],
  )
  for (const error of errors) assert.not.match(JSON.stringify({ ...error, text: String(error) }), /sk-secret/)
  await close()
})

test('failing Redis: while the server is down, a change gets a 503 within six seconds', {
  timeoutMs: 300_000,
}, async () => {
  const token = 'a-management-token-of-32-characters-or-more'
  for (const name of PACKAGES) {
    const { storage, close } = await open(name)
    const gateway = createGateway({
      storage,
      logger: false,
      secret: 'a secret of at least 32 characters',
      management: { token },
    })
    const change = () =>
      gateway.fetch('http://gateway/api/combos', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `new-${stores}`, models: ['openai/gpt-5'] }),
      })
    const models = async () => (await gateway.fetch('http://gateway/v1/models')).status
    assert.equal([await models(), await models()], [200, 200]) // the first request initializes a new store
    await server.kill()
    assert.is(await models(), 200)
    const startedAt = performance.now()
    const response = await change()
    const ms = performance.now() - startedAt
    assert.is(response.status, 503)
    assert.ok((await response.json()).error)
    assert.ok(ms < 6_000, `${name}: ${ms} ms`)
    await server.start()
    const deadline = performance.now() + 5_000
    let status = 0
    while (status !== 201 && performance.now() < deadline) {
      status = (await change()).status
      if (status !== 201) await sleep(100)
    }
    assert.is(status, 201, name)
    await gateway.close()
    await close()
  }
})
