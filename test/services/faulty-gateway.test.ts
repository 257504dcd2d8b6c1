import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/index.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { fakeUpstream, json } from '../pipeline/support/upstream.ts'
import { catalog, token } from '../pipeline/support/world.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { type Fault, isPostgresWrite, isRedisWrite, startProxy } from './fault-proxy.ts'
import { openPool } from './postgres-pool.ts'
import { startPostgres } from './postgres-server.ts'
import { openClient, PACKAGES, type Package } from './redis-clients.ts'
import { startRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const servers = { redis: await startRedis(), postgres: await startPostgres({ mayDie: true }) }
const test = suite('a gateway on a failing store')
test.after(async () => {
  for (const server of Object.values(servers)) await server.remove()
})

const CLIENTS = [...PACKAGES, 'pg'] as const
type Client = (typeof CLIENTS)[number]
let stores = 0

interface Opened {
  storage: Storage
  end(): Promise<void> | void
}

const OPTIONS: Record<Package, object> = {
  redis: {
    commandsQueueMaxLength: 1_000,
    pingInterval: 1_000,
    socket: {
      connectTimeout: 2_000,
      socketTimeout: 4_000,
      reconnectStrategy: (tries: number) => Math.min(tries * 50, 1_000),
    },
  },
  get 'redis-5'() {
    return this.redis
  },
  ioredis: { connectTimeout: 2_000, socketTimeout: 4_000, maxRetriesPerRequest: 3 },
  get 'ioredis-5'() {
    return this.ioredis
  },
}

/** Opens a store with a client that uses the README's options. */
async function openStore(name: Client, { port, id }: { port: number; id: number }): Promise<Opened> {
  if (name === 'pg') {
    const pool = openPool(`postgres://postgres@127.0.0.1:${port}/postgres`)
    return { storage: postgresStorage(pool, { table: `faults_${id}` }), end: () => pool.end() }
  }
  const { client, end } = await openClient(name, `redis://127.0.0.1:${port}`, { ...OPTIONS[name] })
  return { storage: redisStorage(client, { prefix: `faults ${id}` }), end }
}

/**
 * Opens three gateways on the same store: `gateway` and `empty`, which has read nothing yet, both through a proxy, and `elsewhere` without the proxy.
 * `openAnew` opens another one without the proxy.
 */
async function open(name: Client) {
  const id = ++stores
  const server = name === 'pg' ? servers.postgres : servers.redis
  const proxy = await startProxy(server.port, name === 'pg' ? isPostgresWrite : isRedisWrite)
  const opened: Opened[] = []
  const others: Gateway[] = []
  const getGateway = async (port: number) => {
    const store = await openStore(name, { port, id })
    opened.push(store)
    return createGateway({
      storage: store.storage,
      secret: 'a secret of at least 32 characters',
      catalog,
      fetch: fakeUpstream(() => json(chatResponse())),
      logger: false,
      management: { token },
    })
  }
  const elsewhere = await getGateway(server.port)
  await elsewhere.api.connections.create({ provider: 'one', apiKey: 'sk-one-of-the-tests' })
  await elsewhere.api.combos.create({ name: 'pool', models: ['one/m'] })
  await elsewhere.api.settings.update({ requireApiKey: true })
  const gateway = await getGateway(proxy.port)
  const empty = await getGateway(proxy.port)
  return {
    ...{ gateway, empty, elsewhere, proxy },
    async openAnew() {
      const another = await getGateway(server.port)
      others.push(another)
      return another
    },
    async close() {
      for (const item of [gateway, empty, elsewhere, ...others]) await item.close()
      for (const { storage, end } of opened) {
        await storage.close?.()
        await end()
      }
      proxy.close()
    },
  }
}

const timed = async <T extends object>(promise: Promise<T>): Promise<T & { ms: number }> => {
  const startedAt = performance.now()
  const result: T = await promise
  return Object.assign(result, { ms: performance.now() - startedAt })
}

async function chat(gateway: Gateway, key: string) {
  const body = JSON.stringify({ model: 'pool', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  const response = await gateway.fetch('http://gateway/v1/chat/completions', { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

async function manage(gateway: Gateway, [method, path]: readonly [string, string], body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method, headers, body: JSON.stringify(body) }
  const response = await gateway.fetch(`http://gateway/api/${path}`, init)
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as { error?: unknown; id?: string } }
}

/** Retries the check for this long, until it doesn't throw. */
async function soon(check: () => Promise<void>, withinMs: number) {
  const startedAt = performance.now()
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() - startedAt > withinMs) throw error
      await sleep(50)
    }
  }
}

/** The extra time to recover, in ms, because five clients and other tests share the CPU. */
const LOAD_MS = 1_000

const FAULTS: Array<[fault: Fault, what: string, ms: number]> = [
  ['refuses', 'refuses connections', 10_000],
  ['swallows', 'never replies', 7_000],
  ['slows', 'replies slowly', 7_000],
]

for (const [fault, label, ms] of FAULTS)
  test(
    `a gateway uses cached data while the store ${label}, and recovers within 3 s`,
    {
      timeoutMs: 90_000,
    },
    () => Promise.all(CLIENTS.map((name) => checkOutage(name, fault, ms))),
  )

async function checkOutage(name: Client, fault: Fault, forMs: number) {
  const { gateway, empty, elsewhere, proxy, close } = await open(name)
  const { key } = await elsewhere.api.keys.create({ name: 'known' })
  const paused = await elsewhere.api.keys.create({ name: 'paused by this gateway' })
  const later = await elsewhere.api.keys.create({ name: 'paused elsewhere' })
  const unseen = await elsewhere.api.keys.create({ name: 'unseen' })
  for (const value of [key, paused.key, later.key]) assert.is((await chat(gateway, value)).status, 200, name)
  await gateway.api.keys.update(paused.id, { isActive: false })
  await gateway.api.combos.create({ name: 'own', models: ['one/m'] })
  proxy.is(fault)
  const endsAt = performance.now() + forMs
  const changes = ['a', 'b'].map(async (combo) => {
    const { status, body, ms } = await timed(manage(gateway, ['POST', 'combos'], { name: combo, models: ['one/m'] }))
    assert.is(status, 503, `${name} ${fault}`)
    assert.is(typeof body.error, 'string', name)
    assert.ok(ms < 6_000, `${name}: a change took ${ms} ms`)
  })
  await elsewhere.api.keys.update(later.id, { isActive: false })
  const unknown = [chat(gateway, unseen.key), chat(empty, key)]
  while (performance.now() < endsAt) {
    const known = await timed(chat(gateway, key))
    assert.is(known.status, 200, `${name} ${fault} ${known.text}`)
    assert.ok(known.ms < 1_500, `${name}: ${known.ms} ms`)
    assert.is((await chat(gateway, paused.key)).status, 403, name)
    assert.ok([200, 403, 503].includes((await chat(gateway, later.key)).status), name)
    await sleep(100)
  }
  await Promise.all(changes)
  for (const response of unknown) assert.is((await response).status, 503, `${name} ${fault}`)
  proxy.is('none')
  await soon(async () => {
    const responses = [chat(gateway, key), chat(gateway, later.key), chat(gateway, unseen.key), chat(empty, key)]
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    assert.equal(statuses, [200, 403, 200, 200], name)
  }, 3_000 + LOAD_MS)
  const names = (await elsewhere.api.combos.list()).combos.map((combo) => combo.name)
  assert.ok(names.length === new Set(names).size, name)
  await soon(async () => {
    const { status } = await manage(gateway, ['POST', 'combos'], { name: 'after', models: ['one/m'] })
    assert.ok([201, 409, 400].includes(status), `${name}: ${status}`)
  }, 3_000)
  await close()
}

test(
  'a gateway sees a change within 15 s after its store connections died silently',
  {
    timeoutMs: 300_000,
  },
  () =>
    Promise.all(
      CLIENTS.map(async (name) => {
        const { gateway, elsewhere, proxy, close } = await open(name)
        const { key, id } = await elsewhere.api.keys.create({ name: 'known' })
        assert.is((await chat(gateway, key)).status, 200)
        proxy.is('mutes')
        await elsewhere.api.keys.update(id, { isActive: false })
        await soon(async () => assert.is((await chat(gateway, key)).status, 403, name), 15_000)
        await close()
      }),
    ),
)

test('a gateway keeps each acknowledged change exactly once, even if replies and connections are lost', {
  timeoutMs: 90_000,
}, async () => {
  const lost = await keepHistory(async (proxies) => {
    do {
      for (const fault of ['loses', 'refuses', 'none', 'loses', 'mutes', 'none'] as const) {
        for (const proxy of proxies) proxy.is(fault)
        await sleep(1_200)
      }
    } while (proxies.some((proxy) => proxy.lost() === 0)) // on a slow machine, one cycle may be too short to lose a response
  })
  assert.ok(
    lost.every((replies) => replies > 0),
    `lost replies: ${lost}`,
  )
})

test(
  'a gateway keeps each acknowledged change exactly once, even if the database is killed under load',
  { timeoutMs: 300_000 },
  () =>
    keepHistory(async () => {
      for (const downMs of [200, 2_000]) {
        await sleep(1_500)
        await Promise.all(Object.values(servers).map((server) => server.kill()))
        await sleep(downMs)
        await Promise.all(Object.values(servers).map((server) => server.start()))
      }
      await sleep(3_000)
    }),
)

type World = Awaited<ReturnType<typeof open>> & { name: Client }

/**
 * Writes through gateways with each client while `disturb` runs, then checks the stored data. Resolves to the number of lost responses for each
 * client.
 */
async function keepHistory(disturb: (proxies: Array<World['proxy']>) => Promise<void>): Promise<number[]> {
  const worlds = await Promise.all(CLIENTS.map(async (name) => ({ name, ...(await open(name)) })))
  const disturbed = disturb(worlds.map(({ proxy }) => proxy))
  await Promise.all(worlds.map((world) => runClientHistory(world, disturbed)))
  return worlds.map(({ proxy }) => proxy.lost())
}

/** Lets several writers use two gateways until the promise settles, then checks that the store contains exactly the acknowledged writes. */
async function runClientHistory(
  { name, gateway, elsewhere, openAnew, close }: World,
  until: Promise<void>,
): Promise<void> {
  let isOver = false
  const left = new Set<string>() // acknowledged combos that weren't deleted
  const gone = new Set<string>()
  const last = new Map<string, number>() // the last acknowledged step of each key

  async function lane(by: Gateway, lane: string) {
    const key = await elsewhere.api.keys.create({ name: lane })
    for (let step = 0; !isOver; step++) {
      const combo = `${lane}-${step}`
      const put = await manage(by, ['PUT', `keys/${key.id}`], { name: `${lane} ${step}` })
      if (put.status === 200) last.set(key.id, step)
      const created = await manage(by, ['POST', 'combos'], { name: combo, models: ['one/m'] })
      for (const { status, body } of [put, created]) {
        assert.ok([200, 201, 503].includes(status), `${name}: ${status} ${JSON.stringify(body)}`)
      }
      if (created.status !== 201) continue
      if (step % 3 > 0) {
        left.add(combo)
        continue
      }
      const { status } = await manage(by, ['DELETE', `combos/${created.body.id}`], {})
      if (status === 200) gone.add(combo)
    }
  }

  const lanes = ['a', 'b', 'c'].map((value) => lane(gateway, value)).concat(lane(elsewhere, 'd'))
  await until
  isOver = true
  await Promise.all(lanes)
  await sleep(4_500) // lets clients send what they have queued
  const list = async (by: Gateway) => (await by.api.combos.list()).combos.map((combo) => combo.name)
  const reader = await openAnew() // a gateway without a cache, which can't return stale data on a slow machine
  const stored = await list(reader)
  assert.is(stored.length, new Set(stored).size, name)
  assert.equal(
    [...left].filter((value) => !stored.includes(value)),
    [],
    `${name} lost`,
  )
  assert.equal(
    [...gone].filter((value) => stored.includes(value)),
    [],
    `${name} resurrected`,
  )
  for (let tries = 0; (await list(elsewhere)).sort().join() !== stored.sort().join(); tries++) {
    assert.ok(tries < 100, `${name}: a gateway doesn't see what the store contains`)
    await sleep(100)
  }
  for (const { id, name: label } of (await reader.api.keys.list()).keys) {
    const step = Number(label.split(' ')[1] ?? -1)
    assert.ok(step >= (last.get(id) ?? -1), `${name}: ${label}, after ${last.get(id)}`)
  }
  assert.ok(left.size > 0, `${name}: ${left.size} combos`)
  await close()
}
