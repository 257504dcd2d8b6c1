import { existsSync } from 'node:fs'
import pg from 'pg'
import { createGateway } from 'signalbox'
import { serveNode } from 'signalbox/node'
import { postgresStorage } from 'signalbox/storage/postgres'

if (existsSync('.env')) process.loadEnvFile()
const { DATABASE_URL, SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY } = process.env
const needed = { DATABASE_URL, SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY }
const missing = Object.entries(needed).filter(([, value]) => !value)
if (missing.length > 0) {
  console.error(`Set ${missing.map(([name]) => name).join(', ')}: see README.md.`)
  process.exit(1)
}

// The timeouts let the client notice a dead connection.
const pool = new pg.Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 4_000, query_timeout: 4_000 })
pool.on('error', (error) => console.error(`Postgres: ${error.message}`)) // lost idle connections would otherwise crash the process

const gateway = createGateway({
  storage: postgresStorage(pool), // creates its table on first use
  secret: SIGNALBOX_SECRET, // encrypts keys and credentials in the table
  management: { token: SIGNALBOX_ADMIN_TOKEN }, // turns on the management API at /api
})

try {
  // Writes nothing if nothing has changed, so it can run at every start.
  await gateway.api.connections.put({ id: 'openai', provider: 'openai', apiKey: OPENAI_API_KEY })
  await gateway.api.keys.put({ name: 'app', key: APP_KEY })
  await gateway.api.settings.update({ requireApiKey: true })
} catch (error) {
  console.error(`The gateway cannot start: ${error.cause?.message ?? error.message}`)
  process.exit(1)
}

const server = await serveNode(gateway, { port: Number(process.env.PORT ?? 4000) })
console.log(`${server.url}/v1`)

process.once('SIGTERM', async () => {
  await server.close()
  await gateway.close()
  await pool.end()
})
