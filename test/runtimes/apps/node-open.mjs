// As open as a gateway can be: whoever reaches it may manage it, also by the name evil.test. Its arguments are origins whose pages may use it.
import { createGateway } from 'signalbox'
import { serveNode } from 'signalbox/node'
import { memoryStorage } from 'signalbox/storage/memory'

const management = { dangerouslyAllowUnauthenticated: true }
const gateway = createGateway({
  storage: memoryStorage(),
  management,
  allowedOrigins: process.argv.slice(2),
  logger: false,
})
console.log((await serveNode(gateway, { allowedHosts: ['evil.test'] })).url)
