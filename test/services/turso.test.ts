import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { LibsqlClient } from '../../adapters/storage/sqlite/remote.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { storageConformance } from '../conformance/storage.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { startHrana } from './hrana-server.ts'
import { testOverHttp } from './over-http.ts'

if (!existsSync(new URL('node_modules/@tursodatabase/serverless', import.meta.url)))
  skip('services: the clients are not installed')

const require = createRequire(import.meta.url)
const server = await startHrana()

type Open = (options: { url: string; authToken: string }) => LibsqlClient & { close(): void }

/** How each package opens a client without connecting. */
const CLIENTS = {
  '@libsql/client/web': require('@libsql/client/web').createClient as Open,
  '@tursodatabase/serverless/compat': require('@tursodatabase/serverless/compat').createClient as Open,
}

let tables = 0
for (const [name, createClient] of Object.entries(CLIENTS)) {
  const client = createClient({ url: server.url, authToken: 'a token' })
  storageConformance(`SQLite through ${name}`, {
    has: ['increment', 'getLinked'],
    create({ clock }) {
      const table = `records_${++tables}`
      const open = () => sqliteStorage(client, { table, clock })
      return { storage: open(), reopen: open }
    },
  })
}

const test = suite('Turso')

test.after(() => server.close())

for (const [name, createClient] of Object.entries(CLIENTS))
  testOverHttp(test, name, {
    front: server,
    retries: false,
    isSerial: name.startsWith('@tursodatabase'),
    create() {
      const table = `records_${++tables}`
      return () => sqliteStorage(createClient({ url: server.url, authToken: 'a token' }), { table })
    },
  })

test('expired rows are removed even if each instance makes few writes', async () => {
  const clock = fakeClock()
  const client = CLIENTS['@libsql/client/web']({ url: server.url, authToken: 'a token' })
  const table = `records_${++tables}`
  const before = server.requests
  for (let instance = 0; instance < 300; instance++) {
    const storage = sqliteStorage(client, { table, clock })
    for (let index = 0; index < 20; index++) await storage.set(`key ${index}`, '1')
  }
  assert.ok(server.requests - before > 6_000, 'no instance removed expired rows in 6,000 writes')
})
