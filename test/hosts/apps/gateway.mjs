import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

/** The gateway that each host app serves below `/ai`. */
export const gateway = createGateway({
  basePath: '/ai',
  storage: memoryStorage(),
  management: { token: 'test-token-of-thirty-two-characters' },
  logger: false,
})

/** Prints a `node:http` server's URL. */
export const announce = (server) => console.log(`http://127.0.0.1:${server.address().port}`)
