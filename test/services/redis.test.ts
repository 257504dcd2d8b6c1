import { existsSync } from 'node:fs'
import { type RedisStorageOptions, redisStorage } from '../../adapters/storage/redis.ts'
import { storageConformance } from '../conformance/storage.ts'
import { delaysOf, PROCESSES, type Program } from '../keys/support/pausing.ts'
import { type Child, childProgram } from '../storage/support/children.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { type OpenClient, openClient, PACKAGES } from './redis-clients.ts'
import { findRedis, startCluster } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
const cluster = server.isOwn ? await startCluster() : undefined
let stores = 0

/** Lets `ms` pass for every entry of a store. */
const PASS = `
for _, name in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. 'k:*')) do
  local left = redis.call('PTTL', name) - ARGV[2]
  if left > 0 then redis.call('PEXPIRE', name, left) elseif redis.call('PTTL', name) > 0 then redis.call('DEL', name) end
end`

const EMPTY = "for _, name in ipairs(redis.call('KEYS', '*' .. ARGV[1] .. '*')) do redis.call('DEL', name) end"

function conformance(name: string, open: () => Promise<OpenClient>, options: RedisStorageOptions = {}) {
  storageConformance(`redis, by a client of ${name},`, {
    has: ['increment', 'watch'],
    async create() {
      const [one, other] = [await open(), await open()]
      const prefix = `conformance ${process.pid} ${++stores}`
      const root = `{${prefix}}:`
      return {
        storage: redisStorage(one.client, { ...options, prefix }),
        reopen: () => redisStorage(other.client, { ...options, prefix }),
        passTime: async (ms) => void (await one.command('EVAL', PASS, '1', root, root, String(ms))),
        async destroy() {
          await one.command('EVAL', EMPTY, '1', root, root)
          one.end()
          other.end()
        },
      }
    },
  })
}

for (const name of PACKAGES) conformance(name, () => openClient(name, server.url))
conformance('ioredis with a prefix of its own', () => openClient('ioredis', server.url, { keyPrefix: 'mine:' }))
if (cluster)
  for (const name of PACKAGES)
    conformance(`${name} for a cluster`, () => openClient(name, cluster.url, { isCluster: true }))

const test = suite<{ program?: Program }>('redis storage', {})

test.before(async (context) => {
  context.program = await childProgram(new URL('../keys/support/asking.ts', import.meta.url))
})
test.after(async ({ program }) => {
  await program?.remove()
  await cluster?.remove()
  await server.remove()
})

/** A store with the default prefix, emptied, as the programs of these tests open it. */
async function shared() {
  const { client, command, end } = await openClient('ioredis', server.url)
  await command('EVAL', EMPTY, '1', '{signalbox}:', '{signalbox}:')
  return { storage: redisStorage(client), end }
}

test('keeps all of 4 x 200 read-modify-writes of four processes', async ({ program }) => {
  const { storage, end } = await shared()
  const children = Array.from(
    { length: PROCESSES },
    () => program?.start(server.url, 'a secret of 32 characters or more') as Child,
  ) // `before` made it
  await Promise.all(children.map((child) => child.said('ready')))
  for (const child of children) child.go('add')
  await Promise.all(children.map((child) => child.said('added')))
  for (const child of children) child.go('end')
  assert.is((await storage.get('sum'))?.value, '800')
  await storage.close?.()
  end()
})

test('has a key that is paused refused by other processes within 100 ms', async ({ program }) => {
  const rounds: string[] = []
  for (let round = 0; round < 5; round++) {
    const { storage, end } = await shared()
    const delays = await delaysOf(program, { place: server.url, storage })
    end()
    if (delays.every((ms) => ms < 100)) return // in one of five rounds: others may have the processor
    rounds.push(delays.map((ms) => ms.toFixed(0)).join(' '))
  }
  assert.unreachable(`ms until the pause was known: ${rounds.join(' / ')}`)
})

test('throws a TypeError for what is no client and for options that it does not know', () => {
  for (const client of [undefined, null, {}, 'redis://127.0.0.1'])
    assert.throws(() => redisStorage(client as never), /client of the package redis or ioredis/)
  const client = { call: async () => null, duplicate: () => client }
  assert.throws(() => redisStorage(client, { prefix: '{a}' }), /prefix/)
  assert.throws(() => redisStorage(client, { perfix: 'a' } as object), /perfix is not an option/)
})
