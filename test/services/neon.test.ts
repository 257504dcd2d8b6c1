import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type PostgresPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { createGateway } from '../../src/index.ts'
import { storageConformance } from '../conformance/storage.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { SLOW_MS } from './http-front.ts'
import { startNeon } from './neon-server.ts'
import { testOverHttp } from './over-http.ts'
import { startPostgres } from './postgres-server.ts'

if (!existsSync(new URL('node_modules/@neondatabase/serverless', import.meta.url)))
  skip('services: the clients are not installed')

const { neon, neonConfig } = createRequire(import.meta.url)('@neondatabase/serverless') as {
  neon(url: string, options?: { fullResults: boolean }): PostgresPool
  neonConfig: { fetchEndpoint: () => string }
}

const postgres = await startPostgres()
const server = await startNeon(postgres.url)
neonConfig.fetchEndpoint = () => server.url

let tables = 0
const newTable = () => `neon_${process.pid}_${++tables}`
const connect = (options?: { fullResults: boolean }) => neon('postgres://user:secret@db.neon.test/main', options)

for (const fullResults of [false, true])
  storageConformance(`Postgres through Neon's driver${fullResults ? ' with full results' : ''}`, {
    has: ['increment', 'getLinked'],
    create() {
      const table = newTable()
      const sql = connect({ fullResults })
      const open = () => postgresStorage(sql, { table, watch: false })
      return {
        storage: open(),
        reopen: open,
        passTime: async (ms) =>
          void (await sql.query(`UPDATE ${table} SET expires_at = expires_at - ${ms} * interval '1 millisecond'`)),
      }
    },
  })

const test = suite('Neon')

test.after(async () => {
  await server.close()
  await postgres.remove()
})

testOverHttp(test, 'Neon', {
  front: server,
  retries: false,
  create() {
    const table = newTable()
    return () => postgresStorage(connect(), { table, watch: false })
  },
})

test('without `watch`, the gateway sends no queries between requests', async () => {
  const storage = postgresStorage(connect(), { table: newTable(), watch: false })
  const gateway = createGateway({ storage, secret: 'a secret of 32 characters or more', logger: false })
  await gateway.api.settings.get()
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const before = server.requests
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.is(server.requests, before)
  assert.is(storage.watch, undefined)
  await gateway.close()
})

test("the first request waits for a sleeping database, and later ones see another instance's changes", async () => {
  const table = newTable()
  const build = () =>
    createGateway({
      ...{ storage: postgresStorage(connect(), { table, watch: false }), logger: false },
      ...{ secret: 'a secret of 32 characters or more', limits: { storeMaxAgeMs: 200 } },
      fetch: async () => Response.json(chatResponse('Hello')),
      connections: { openai: { apiKey: 'sk-test' } },
    })
  const first = build()
  const { key, id } = await first.api.keys.create({ name: 'a' })
  const second = build()
  const send = async () => {
    const response = await second.fetch(
      new Request('http://localhost/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'openai/gpt-5', messages: [{ role: 'user', content: 'Hi' }] }),
      }),
    )
    await response.text()
    return response.status
  }
  server.faults = Array.from({ length: 7 }, () => 'slow' as const)
  const startedAt = performance.now()
  assert.is(await send(), 200)
  assert.ok(performance.now() - startedAt >= SLOW_MS)
  server.faults = []
  await first.api.keys.update(id, { isActive: false })
  await new Promise((resolve) => setTimeout(resolve, 250))
  assert.is(await send(), 403)
  await Promise.all([first.close(), second.close()])
})
