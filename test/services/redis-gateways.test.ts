import { existsSync } from 'node:fs'
import { sharedPauseConformance, sharedStoreConformance } from '../conformance/gateways.ts'
import { skip } from '../support/suite.ts'
import { redisPlace } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const server = await findRedis()
let stores = 0

async function create(query = '') {
  const { place, remove } = redisPlace(server.url, `gateways ${process.pid} ${++stores}`)
  return { place: place + query, remove }
}

sharedStoreConformance('Redis', { create, knownWithinMs: 100 })
sharedPauseConformance('Redis without watch', {
  create: () => create('&watch=no'),
  knownWithinMs: 1_000,
  end: () => server.remove(),
})
