import { existsSync } from 'node:fs'
import { sharedBudgetConformance } from '../limits/support/budget.ts'
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

sharedBudgetConformance('Redis', {
  create: async () => redisPlace(redis.url, `limits ${process.pid} ${++stores}`),
  end: () => redis.remove(),
})
sharedBudgetConformance('Postgres', {
  async create() {
    const table = `limits_${process.pid}_${++stores}`
    return {
      place: `${postgres.url}?table=${table}`,
      remove: async () => void (await pool.query(`DROP TABLE IF EXISTS ${table}`)),
    }
  },
  async end() {
    await pool.end()
    await postgres.remove()
  },
})
