import { type PostgresPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { storageConformance } from '../conformance/storage.ts'

/** In-process Postgres as WebAssembly. It has no connection pool, so watchers poll. */
const { PGlite } = (await import('@electric-sql/pglite' as string)) as { PGlite: new () => PostgresPool }
const lite = new PGlite()
let tables = 0

storageConformance('pglite', {
  has: ['increment', 'watch'],
  async create() {
    const table = `records_${++tables}`
    const open = () => postgresStorage(lite, { table, pollMs: 50 })
    return {
      storage: open(),
      reopen: open,
      passTime: async (ms) =>
        void (await lite.query(`UPDATE ${table} SET expires_at = expires_at - ${ms} * interval '1 millisecond'`)),
      destroy: async () => void (await lite.query(`DROP TABLE IF EXISTS ${table}`)),
    }
  },
})
