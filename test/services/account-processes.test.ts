import { existsSync } from 'node:fs'
import { appConformance } from '../accounts/support/app-processes.ts'
import { firstRequestsConformance } from '../accounts/support/first-requests.ts'
import { skip } from '../support/suite.ts'
import { openPool } from './open-store.ts'
import { startPostgres } from './postgres-server.ts'
import { redisPlace } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const redis = await findRedis()
const postgres = await startPostgres()
const pool = openPool(postgres.url)
let stores = 0

const inRedis = { create: async () => redisPlace(redis.url, `accounts ${process.pid} ${++stores}`) }
const inPostgres = {
  async create() {
    const table = `accounts_${process.pid}_${++stores}`
    return {
      place: `${postgres.url}?table=${table}`,
      remove: async () => void (await pool.query(`DROP TABLE IF EXISTS ${table}`)),
    }
  },
}

firstRequestsConformance('Redis', inRedis)
appConformance('Redis', { ...inRedis, end: () => redis.remove() })
firstRequestsConformance('Postgres', inPostgres)
appConformance('Postgres', {
  ...inPostgres,
  async end() {
    await pool.end()
    await postgres.remove()
  },
})
