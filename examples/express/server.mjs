import { existsSync } from 'node:fs'
import express from 'express'
import { createGateway } from 'signalbox'
import { toExpressHandler } from 'signalbox/express'
import { fileStorage } from 'signalbox/storage/file'

if (existsSync('.env')) process.loadEnvFile()
const { SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY } = process.env
const missing = Object.entries({ SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY }).filter(
  ([, value]) => !value,
)
if (missing.length > 0) {
  console.error(`Set ${missing.map(([name]) => name).join(', ')}: see README.md.`)
  process.exit(1)
}

const gateway = createGateway({
  storage: fileStorage('./data'),
  secret: SIGNALBOX_SECRET, // encrypts keys and credentials in the storage
  management: { token: SIGNALBOX_ADMIN_TOKEN }, // turns on the management API at /ai/api
})

try {
  // Writes nothing if nothing has changed, so it can run at every start.
  await gateway.api.connections.put({ id: 'openai', provider: 'openai', apiKey: OPENAI_API_KEY })
  await gateway.api.combos.put({ name: 'fast', models: ['openai/gpt-5-mini', 'openai/gpt-5-nano'] }) // tried in order
  await gateway.api.keys.put({ name: 'app', key: APP_KEY }) // for clients that aren't users
  await gateway.api.settings.update({ requireApiKey: true })
} catch (error) {
  console.error(`The gateway cannot start: ${error.cause?.message ?? error.message}`)
  process.exit(1)
}

const app = express()
app.use('/ai', toExpressHandler(gateway, { identify: (req) => req.user && { account: `${req.user.id}` } })) // after your session middleware
app.get('/', (_request, response) => response.send('the app itself'))

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/ai/v1`)
})

process.once('SIGTERM', () => {
  server.close(() => gateway.close())
  server.closeIdleConnections()
})
