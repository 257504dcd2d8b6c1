// BUN_CONFIG_MAX_HTTP_REQUESTS=4096 bun examples/bun/server.mjs
// Without the variable, Bun makes 256 calls at once.
import { createGateway } from 'signalbox'
import { serveBun } from 'signalbox/bun'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage() })
const server = serveBun(gateway, { port: Number(process.env.PORT ?? 4000) })
console.log(`${server.url}v1`)
