// As open as a gateway can be: whoever reaches it may manage it, also by the name evil.test.
import { createGateway } from 'signalbox'
import { serveNode } from 'signalbox/node'
import { memoryStorage } from 'signalbox/storage/memory'

const management = { dangerouslyAllowUnauthenticated: true }
const gateway = createGateway({ storage: memoryStorage(), management, logger: false })
console.log((await serveNode(gateway, { allowedHosts: ['evil.test'] })).url)
