import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { type IoredisClient, redisStorage } from '../../adapters/storage/redis.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/index.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { openPool } from './open-store.ts'
import { startPostgres } from './postgres-server.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const postgres = await startPostgres()
const redis = await findRedis()
const test = suite('store calls for a request with a known key')
test.after(async () => {
  await postgres.remove()
  await redis.remove()
})

/** A store, the reads and writes that its adapter has sent (except for `watch`), and a function that closes its client. */
interface CountInput {
  storage: Storage
  sent: string[]
  end(): Promise<void>
}

async function onPostgres(): Promise<CountInput> {
  const pool = openPool(postgres.url)
  const sent: string[] = []
  const counted: PostgresPool = {
    connect: () => pool.connect?.() as ReturnType<NonNullable<PostgresPool['connect']>>, // pools of `pg` have it
    query(text, values) {
      if (
        !/changed_at > |clock_timestamp\(\)::text AS now|interval '1 millisecond'\)::text|pg_notify\('\w+', ''\)/.test(
          text,
        )
      )
        sent.push(`${text.slice(0, 20)} ${values?.[0]}`)
      return pool.query(text, values)
    },
  }
  return { storage: postgresStorage(counted, { table: `known_${process.pid}` }), sent, end: () => pool.end() }
}

async function onRedis(): Promise<CountInput> {
  const { client, end } = await openClient('ioredis', redis.url)
  const ioredis = client as IoredisClient // the `ioredis` package was opened
  const sent: string[] = []
  const counted: IoredisClient = {
    call(command, ...args) {
      sent.push([command, ...args.slice(command === 'EVAL' ? 1 : 0, 5)].join(' '))
      return ioredis.call(command, ...args)
    },
    duplicate: (...args) => ioredis.duplicate(...args),
  }
  const storage = redisStorage(counted, { prefix: `known ${process.pid}` })
  return { storage, sent, end: async () => end() }
}

async function openKnown(storage: Storage) {
  const gateway = createGateway({
    storage,
    secret: 'a secret of at least 32 characters',
    logger: false,
    usage: false, // usage is written after the response, so no request waits for it
    fetch: async () =>
      Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      }),
  })
  await gateway.api.connections.create({ provider: 'openai', apiKey: 'sk-test' })
  const { key } = await gateway.api.keys.create({ name: 'team' })
  const send = async () => {
    const response = await gateway.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'openai/gpt-5', messages: [] }),
      }),
    )
    await response.text()
    return response.status
  }
  for (let warm = 0; warm < 3; warm++) assert.is(await send(), 200)
  return { gateway, send }
}

for (const [name, open] of [
  ['Postgres', onPostgres],
  ['Redis', onRedis],
] as const) {
  test(`a request with a known key makes no ${name} calls if the store is watched`, async () => {
    const { storage, sent, end } = await open()
    const { gateway, send } = await openKnown(storage)
    for (let tries = 0; tries < 50; tries++) {
      sent.length = 0
      await sleep(200)
      assert.is(await send(), 200)
      if (sent.length === 0) break // the watcher has caught up with the gateway's own changes
    }
    sent.length = 0
    for (let times = 0; times < 50; times++) assert.is(await send(), 200)
    await sleep(1_200)
    assert.is(await send(), 200)
    assert.equal(sent, [])
    await gateway.close()
    await storage.close?.()
    await end()
  })

  test(`without watch, requests with a known key read each ${name} record at most once a second`, async () => {
    const { storage, sent, end } = await open()
    const { watch, ...blind } = storage
    const { gateway, send } = await openKnown(blind)
    await sleep(1_100)
    sent.length = 0
    const startedAt = performance.now()
    let requestCount = 0
    while (performance.now() - startedAt < 900) {
      assert.is(await send(), 200)
      requestCount++
    }
    const allowed = Math.ceil((performance.now() - startedAt) / 1_000)
    const counts = new Map<string, number>()
    for (const value of sent) counts.set(value, (counts.get(value) ?? 0) + 1)
    assert.ok(requestCount > 10 && counts.size > 0, `${requestCount} requests, ${counts.size} different reads`)
    for (const [value, count] of counts)
      assert.ok(count <= allowed, `${value}: ${count} times in ${requestCount} requests`)
    await gateway.close()
    await storage.close?.()
    await end()
  })
}
