// The most open gateway possible: anyone who can reach it can manage it, even through the hostname evil.test. The arguments are the allowed origins.
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
