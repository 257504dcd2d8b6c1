import { createClient } from 'redis'
import { createGateway } from 'signalbox'
import { serveNode } from 'signalbox/node'
import { redisStorage } from 'signalbox/storage/redis'

const { REDIS_URL, SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY, PORT = '4000' } = process.env

// These limits let the client notice a dead connection and fail quickly. If the first connection attempt fails, it gives up after two seconds.
let isConnected = false
const client = createClient({
  url: REDIS_URL,
  commandsQueueMaxLength: 1_000,
  pingInterval: 1_000,
  socket: {
    connectTimeout: 2_000,
    socketTimeout: 4_000,
    reconnectStrategy: (tries, cause) => (isConnected || tries < 9 ? Math.min(tries * 50, 1_000) : cause),
  },
})
client.on('error', (error) => isConnected && console.error(`Redis: ${error.message}`))
try {
  await client.connect()
} catch (error) {
  console.error(`Redis cannot be reached (${error.message || error.code}): check REDIS_URL and that the server runs.`)
  process.exit(1)
}
isConnected = true

const gateway = createGateway({
  storage: redisStorage(client),
  secret: SIGNALBOX_SECRET, // encrypts keys and credentials in Redis
  management: { token: SIGNALBOX_ADMIN_TOKEN }, // turns on the management API at /api
  hooks: { onRequest: ({ status, model }) => console.log(`${process.pid} answered ${status} for ${model}`) },
})

try {
  // Writes nothing if nothing has changed, so it can run at every start.
  await gateway.api.connections.put({ id: 'openai', provider: 'openai', apiKey: OPENAI_API_KEY })
  await gateway.api.combos.put({
    name: 'turns',
    models: ['openai/gpt-5-mini', 'openai/gpt-5-nano'],
    strategy: 'round-robin',
  })
  await gateway.api.keys.put({ name: 'app', key: APP_KEY })
  await gateway.api.settings.update({ requireApiKey: true })
} catch (error) {
  console.error(`The gateway cannot start: ${error.cause?.message ?? error.message}`)
  process.exit(1)
}

const server = await serveNode(gateway, { port: Number(PORT) })
console.log(`${process.pid} serves ${server.url}/v1`)

let isStopping = false
process.on('SIGTERM', async () => {
  if (isStopping) return // a service manager and the first process may both send the signal
  isStopping = true
  await server.close()
  await gateway.close()
  await client.close()
  process.exit()
})
