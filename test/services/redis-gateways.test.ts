import { existsSync } from 'node:fs'
import { sharedPauseConformance, sharedStoreConformance } from '../conformance/gateways.ts'
import { skip } from '../support/suite.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
let stores = 0

async function create(query = '') {
  const prefix = `gateways ${process.pid} ${++stores}`
  return {
    place: `${server.url}?prefix=${encodeURIComponent(prefix)}${query}`,
    async remove() {
      const { command, end } = await openClient('ioredis', server.url)
      await command(
        'EVAL',
        "for _, name in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', name) end",
        '0',
        `*{${prefix}}:*`,
      )
      end()
    },
  }
}

sharedStoreConformance('Redis', { create, knownWithinMs: 100 })
sharedPauseConformance('Redis without watch', {
  create: () => create('&watch=no'),
  knownWithinMs: 1_000,
  end: () => server.remove(),
})
