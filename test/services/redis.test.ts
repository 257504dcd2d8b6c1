import { existsSync } from 'node:fs'
import { type RedisStorageOptions, redisStorage } from '../../adapters/storage/redis.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { type OpenClient, openClient, PACKAGES } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
let stores = 0

/** Lets `ms` pass for every entry of a store. */
const PASS = `
for _, name in ipairs(redis.call('KEYS', ARGV[1] .. 'k:*')) do
  local left = redis.call('PTTL', name) - ARGV[2]
  if left > 0 then redis.call('PEXPIRE', name, left) elseif redis.call('PTTL', name) > 0 then redis.call('DEL', name) end
end`

function conformance(name: string, open: (url: string) => Promise<OpenClient>, options: RedisStorageOptions = {}) {
  storageConformance(`redis, by a client of ${name},`, {
    has: ['increment', 'watch'],
    async create() {
      const [one, other] = [await open(server.url), await open(server.url)]
      const prefix = `conformance ${process.pid} ${++stores}`
      const root = `{${prefix}}:`
      return {
        storage: redisStorage(one.client, { ...options, prefix }),
        reopen: () => redisStorage(other.client, { ...options, prefix }),
        passTime: async (ms) => void (await one.command('EVAL', PASS, '0', root, String(ms))),
        async destroy() {
          await one.command(
            'EVAL',
            "for _, name in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do redis.call('DEL', name) end",
            '0',
            root,
          )
          one.end()
          other.end()
        },
      }
    },
  })
}

for (const name of PACKAGES) conformance(name, (url) => openClient(name, url))

const test = suite('redis storage')

test.after(() => server.remove())

test('throws a TypeError for what is no client and for options that it does not know', () => {
  for (const client of [undefined, null, {}, 'redis://127.0.0.1'])
    assert.throws(() => redisStorage(client as never), /client of the package redis or ioredis/)
  const client = { call: async () => null, duplicate: () => client }
  assert.throws(() => redisStorage(client, { prefix: '{a}' }), /prefix/)
  assert.throws(() => redisStorage(client, { perfix: 'a' } as object), /perfix is not an option/)
})
