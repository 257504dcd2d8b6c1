import { createRequire } from 'node:module'
import { startPostgres } from '../services/postgres-server.ts'
import { addWrongSecretTest, assertExitReason, testExample, testMissingVariables } from './scenario.ts'

interface PgClient {
  connect(): Promise<unknown>
  query(statement: string): Promise<unknown>
  end(): Promise<void>
}

const postgres = await startPostgres()
/** A separate database for this run, because other processes may use the server. */
const database = `signalbox_example_${process.pid}`

const test = testExample('postgres', async () => {
  await run(`CREATE DATABASE ${database}`)
  const url = new URL(postgres.url)
  url.pathname = `/${database}`
  return { address: '127.0.0.1:4000', env: { DATABASE_URL: url.href } }
})
test.after(async () => {
  await run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
  await postgres.remove()
})

addWrongSecretTest(test)
test('the example exits with a one-line error if the server is unreachable', ({ server }) =>
  assertExitReason(
    server,
    { DATABASE_URL: 'postgres://postgres@127.0.0.1:1/postgres' },
    /^The gateway cannot start: Postgres is unreachable .* Check the pool's address and the server\.$/,
  ))

testMissingVariables('postgres', [
  'DATABASE_URL',
  'SIGNALBOX_SECRET',
  'SIGNALBOX_ADMIN_TOKEN',
  'APP_KEY',
  'OPENAI_API_KEY',
])

async function run(statement: string): Promise<void> {
  const pg = createRequire(import.meta.url)('pg') as { Client: new (url: string) => PgClient }
  const client = new pg.Client(postgres.url)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
