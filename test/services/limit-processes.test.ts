import { existsSync } from 'node:fs'
import { sharedBudgetConformance } from '../limits/support/budget.ts'
import { skip } from '../support/suite.ts'
import { openPool } from './open-store.ts'
import { startPostgres } from './postgres-server.ts'
import { openClient } from './redis-clients.ts'
import { findRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const redis = await findRedis()
const postgres = await startPostgres()
const pool = openPool(postgres.url)
let stores = 0

sharedBudgetConformance('Redis', {
  async create() {
    const prefix = `limits ${process.pid} ${++stores}`
    return {
      place: `${redis.url}?prefix=${encodeURIComponent(prefix)}`,
      async remove() {
        const { command, end } = await openClient('ioredis', redis.url)
        await command(
          'EVAL',
          "for _, name in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', name) end",
          '0',
          `*{${prefix}}:*`,
        )
        end()
      },
    }
  },
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
