import { existsSync } from 'node:fs'
import { sharedPauseConformance, sharedStoreConformance } from '../conformance/gateways.ts'
import { skip } from '../support/suite.ts'
import { openPool } from './open-store.ts'
import { startPostgres } from './postgres-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const server = await startPostgres()
const pool = openPool(server.url)
let tables = 0

function create(query = '') {
  const table = `gateways_${process.pid}_${++tables}`
  return {
    place: `${server.url}?table=${table}${query}`,
    remove: async () => void (await pool.query(`DROP TABLE IF EXISTS ${table}`)),
  }
}

sharedStoreConformance('Postgres', { create, knownWithinMs: 100 })
sharedPauseConformance('Postgres with polling', {
  create: () => create('&listen=no'),
  knownWithinMs: 1_000,
  async end() {
    await pool.end()
    await server.remove()
  },
})
