import { openGateway } from './open-gateway.mjs'

/** Serves the gateway on Node or Bun until SIGTERM. */
const { gateway, storage, keys } = await openGateway()
const server = globalThis.Bun
  ? (await import('signalbox/bun')).serveBun(gateway, { port: 0 })
  : await (await import('signalbox/node')).serveNode(gateway, { port: 0 })
const url = typeof server.url === 'string' ? server.url : server.url.origin
process.on('SIGTERM', async () => {
  await gateway.close()
  await storage.close?.()
  process.exit()
})
console.log(JSON.stringify({ url, ...keys }))
