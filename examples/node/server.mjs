// ADMIN_TOKEN=<32 characters or more> node examples/node/server.mjs
import { createGateway } from 'signalbox'
import { serveNode } from 'signalbox/node'
import { fileStorage } from 'signalbox/storage/file'

const gateway = createGateway({
  storage: fileStorage('./data'),
  management: { token: process.env.ADMIN_TOKEN },
})
const server = await serveNode(gateway, { port: Number(process.env.PORT ?? 4000) })
console.log(`${server.url}/v1`)

process.once('SIGTERM', async () => {
  await server.close()
  await gateway.close()
})
