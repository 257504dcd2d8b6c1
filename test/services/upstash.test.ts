import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { upstashStorage } from '../../adapters/storage/upstash.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { testOverHttp, withIncrement } from './over-http.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'
import { newPrefix, TOKEN, upstashConformance } from './upstash-conformance.ts'
import { startUpstash } from './upstash-server.ts'

if (!existsSync(new URL('node_modules/@upstash/redis', import.meta.url)))
  skip('services: the clients are not installed')

const redis = await findRedis()
const client = await openClient('ioredis', redis.url)
const server = await startUpstash(client)

const open = (prefix = newPrefix()) => withIncrement(upstashStorage({ url: server.url, token: TOKEN, prefix }))

storageConformance('upstash', upstashConformance(server.url))

const test = suite('upstash')

test.after(async () => {
  await server.close()
  client.end()
  await redis.remove()
})

test("the official Upstash client reads the fake server's replies, plain and encoded, and its errors", async () => {
  const { Redis } = createRequire(import.meta.url)('./node_modules/@upstash/redis') as {
    Redis: new (
      options: object,
    ) => {
      set(key: string, value: string): Promise<unknown>
      get(key: string): Promise<unknown>
      eval(script: string, keys: string[], args: string[]): Promise<unknown>
      pipeline(): { set(key: string, value: string): unknown; get(key: string): unknown; exec(): Promise<unknown[]> }
      multi(): { incr(key: string): unknown; exec(): Promise<unknown[]> }
    }
  }
  for (const responseEncoding of ['base64', false]) {
    const upstash = new Redis({ url: server.url, token: TOKEN, responseEncoding, automaticDeserialization: false })
    assert.is(await upstash.set('front', 'ä ✓'), 'OK')
    assert.is(await upstash.get('front'), 'ä ✓')
    assert.equal(await upstash.eval('return { 1, ARGV[1], false }', ['front'], ['b']), [1, 'b', null])
    const pipeline = upstash.pipeline()
    pipeline.set('front', '1')
    pipeline.get('front')
    assert.equal(await pipeline.exec(), ['OK', '1'])
    const multi = upstash.multi()
    multi.incr('front')
    assert.equal(await multi.exec(), [2])
    assert.match(
      (await getError(() => upstash.eval("return redis.error_reply('ERR on purpose')", [], []))).message,
      /on purpose/,
    )
  }
  const outsider = new Redis({ url: server.url, token: 'another' })
  assert.match((await getError(() => outsider.get('front'))).message, /WRONGPASS/)
})

testOverHttp(test, 'Upstash', {
  front: server,
  retries: true,
  create() {
    const prefix = newPrefix()
    return () => open(prefix)
  },
})

test("a cold store's first write takes at most two requests", async () => {
  const storage = open()
  const before = server.requests
  assert.is(await storage.increment('count', 1), 1)
  assert.ok(server.requests - before <= 2)
})

test('exactly one of many concurrent writes wins, and 10,000 increments by 8 clients are exact', {
  timeoutMs: 180_000,
}, async () => {
  const prefix = newPrefix()
  const clients = Array.from({ length: 8 }, () => open(prefix))
  const byEach = <T>(count: number, action: (client: (typeof clients)[number], at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => action(clients[index % 8] ?? open(prefix), index)))
  for (let round = 0; round < 10; round++) {
    const wins = await byEach(100, (client, index) => client.set(`race ${round}`, String(index), { ifVersion: null }))
    assert.is(wins.filter(Boolean).length, 1)
  }
  for (let round = 0; round < 100; round++) await byEach(100, (client) => client.increment('sum', 1))
  assert.is((await open(prefix).get('sum'))?.value, '10000')
})

test('an unreachable service fails with STORAGE_UNREACHABLE within seconds, and faster the next time', async () => {
  const storage = open()
  server.faults = Array.from({ length: 100 }, () => 'down')
  const timed = async () => {
    const startedAt = performance.now()
    assert.is((await getError(() => storage.get('a'))).code, 'STORAGE_UNREACHABLE')
    return performance.now() - startedAt
  }
  assert.ok((await timed()) < 4_500)
  assert.ok((await timed()) < 1_500)
  server.faults = []
  assert.is(await storage.get('a'), undefined)
})

test('a wrong token fails immediately, with an error that names the variables but not the token', async () => {
  const storage = upstashStorage({ url: server.url, token: 'a wrong token' })
  const before = server.requests
  const error = await getError(() => storage.get('a'))
  assert.is(error.code, 'STORAGE_UNREADABLE')
  assert.match(error.message, /UPSTASH_REDIS_REST_TOKEN/)
  assert.not.match(error.message, /a wrong token/)
  assert.is(server.requests - before, 1)
})

test('a value over the size limit is rejected, and the old value remains', async () => {
  const storage = open()
  await storage.set('a', 'old')
  assert.is((await getError(() => storage.set('a', 'x'.repeat(900_001)))).code, 'STORAGE_TOO_LARGE')
  assert.is((await storage.get('a'))?.value, 'old')
  assert.ok(await storage.set('a', 'x'.repeat(900_000)))
})

test('the Upstash adapter sends a sync token with a read after a write', async () => {
  const sent: Array<string | null> = []
  const storage = upstashStorage({
    ...{ url: server.url, token: TOKEN, prefix: `sync ${process.pid}` },
    fetch: (url, init) => {
      sent.push(new Headers(init?.headers).get('upstash-sync-token'))
      return fetch(url, init)
    },
  })
  await storage.set('a', '1')
  await storage.get('a')
  assert.is(sent[0], null)
  assert.ok(sent.at(-1))
})

test('environment variables select the database, and option errors explain what to set', () => {
  assert.throws(() => upstashStorage(), /UPSTASH_REDIS_REST_URL/)
  process.env.KV_REST_API_URL = server.url
  process.env.KV_REST_API_TOKEN = TOKEN
  try {
    assert.ok(upstashStorage())
  } finally {
    delete process.env.KV_REST_API_URL
    delete process.env.KV_REST_API_TOKEN
  }
  assert.throws(() => upstashStorage({ url: 'redis://x', token: TOKEN }), /https:/)
  assert.throws(() => upstashStorage({ url: server.url, token: TOKEN, prefix: '{a}' }), /prefix/)
  assert.throws(() => upstashStorage({ url: server.url, token: TOKEN, largestValueBytes: 10 }), /largestValueBytes/)
  assert.throws(() => upstashStorage({ urls: 'x' } as object), /urls is not an option/)
})

async function getError(action: () => Promise<unknown>): Promise<{ code?: string; message: string }> {
  try {
    await action()
  } catch (error) {
    return Object(error)
  }
  throw new Error('it was accepted')
}
