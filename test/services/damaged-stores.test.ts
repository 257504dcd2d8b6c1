import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { type Unstorage, unstorageStorage } from '../../adapters/storage/unstorage.ts'
import { damagedRecords } from '../conformance/damaged-records.ts'
import { temporaryFolder } from '../storage/support/folder.ts'
import { skip, suite } from '../support/suite.ts'
import { openPool } from './postgres-pool.ts'
import { startPostgres } from './postgres-server.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/redis', import.meta.url))) skip('services: the clients are not installed')

const [redis, postgres] = [await findRedis(), await startPostgres()]
let stores = 0

for (const name of ['redis', 'ioredis'] as const)
  damagedRecords(`Redis with ${name}`, async () => {
    const { client, end } = await openClient(name, redis.url)
    return { storage: redisStorage(client, { prefix: `damaged ${process.pid} ${++stores}` }), destroy: end }
  })

const pool = openPool(postgres.url)
damagedRecords('Postgres', async () => {
  const table = `damaged_${++stores}`
  return {
    storage: postgresStorage(pool, { table }),
    destroy: async () => void (await pool.query(`DROP TABLE ${table}`)),
  }
})

const require = createRequire(import.meta.url)
damagedRecords('unstorage with the driver fs', async () => {
  const { path, remove } = await temporaryFolder()
  const { createStorage } = require('unstorage') as { createStorage(options: { driver: unknown }): Unstorage }
  const storage = createStorage({ driver: require('unstorage/drivers/fs')({ base: path }) })
  return { storage: unstorageStorage(storage), destroy: remove }
})

const last = suite('the servers')
last.after(async () => {
  await pool.end()
  await redis.remove()
  await postgres.remove()
})
last('the test servers stop after the tests', () => {})
