import { createRequire } from 'node:module'
import { type SqliteDatabase, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { storageConformance } from '../conformance/storage.ts'
import { suite } from '../support/suite.ts'

interface Miniflare {
  getD1Database(name: string): Promise<SqliteDatabase>
  dispose(): Promise<void>
}
type MakesMiniflare = new (options: object) => Miniflare
const require = createRequire(new URL('../runtimes/package.json', import.meta.url))
const { Miniflare } = require('miniflare') as { Miniflare: MakesMiniflare }

const miniflare = new Miniflare({ modules: true, script: 'export default {}', d1Databases: ['DB'] })
const database = await miniflare.getD1Database('DB')
let tables = 0

storageConformance('D1', {
  has: ['increment'],
  create({ clock }) {
    const table = `records_${++tables}`
    return {
      storage: sqliteStorage(database, { table, clock }),
      reopen: () => sqliteStorage(database, { table, clock }),
    }
  },
})

suite('D1').after(() => miniflare.dispose())
