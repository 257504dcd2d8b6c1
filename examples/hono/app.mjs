import { Hono } from 'hono'
import { createGateway } from 'signalbox'
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
  basePath: '/ai',
  storage: fileStorage('./data'),
  secret: SIGNALBOX_SECRET, // encrypts keys and credentials in the storage
  management: { token: SIGNALBOX_ADMIN_TOKEN }, // turns on the management API at /ai/api
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

const app = new Hono()
app.all('/ai/*', (context) => gateway.fetch(context.req.raw))
app.get('/', (context) => context.text('the app itself'))
export default app
