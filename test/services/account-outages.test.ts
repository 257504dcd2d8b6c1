import { existsSync } from 'node:fs'
import { outageConformance } from '../accounts/support/app-processes.ts'
import { skip } from '../support/suite.ts'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const redis = await startRedis()
const postgres = await startPostgres({ mayDie: true })

outageConformance('Redis', {
  create: async () => ({ place: `${redis.url}?prefix=accounts`, remove: async () => {} }),
  outage: { begin: redis.kill, end: redis.start },
  end: redis.remove,
})
outageConformance('Postgres', {
  create: async () => ({ place: `${postgres.url}?table=accounts`, remove: async () => {} }),
  outage: { begin: postgres.kill, end: postgres.start },
  end: postgres.remove,
})
