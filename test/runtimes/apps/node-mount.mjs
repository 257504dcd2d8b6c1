import { serveNode } from 'signalbox/node'
import { openGateway } from './gateway.mjs'

const server = await serveNode(openGateway())
console.log(server.url)
process.stdin.on('data', async () => {
  await server.close({ graceMs: 200 })
  process.exit(7)
})
