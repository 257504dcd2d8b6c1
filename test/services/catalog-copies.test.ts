import { existsSync } from 'node:fs'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { catalogCopies } from '../conformance/catalog-copies.ts'
import { skip, suite } from '../support/suite.ts'
import { openPool } from './postgres-pool.ts'
import { startPostgres } from './postgres-server.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const [redis, postgres] = [await findRedis(), await startPostgres()]
const pool = openPool(postgres.url)

for (const name of ['redis', 'ioredis'] as const)
  catalogCopies(`Redis with ${name}`, async () => {
    const { client, end } = await openClient(name, redis.url)
    return { storage: redisStorage(client, { prefix: `catalog ${process.pid} ${name}` }), destroy: end }
  })

catalogCopies('Postgres', async () => ({ storage: postgresStorage(pool, { table: 'catalog_copies' }), destroy() {} }))

const last = suite('the servers')
last.after(async () => {
  await pool.end()
  await redis.remove()
  await postgres.remove()
})
last('the test servers stop after the tests', () => {})
