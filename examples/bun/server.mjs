import { createGateway } from 'signalbox'
import { serveBun } from 'signalbox/bun'
import { fileStorage } from 'signalbox/storage/file'

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

const server = serveBun(gateway, { port: Number(process.env.PORT ?? 4000) })
console.log(`${server.url}v1`)
