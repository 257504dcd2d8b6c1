// bun examples/bun/server.mjs
import { createGateway } from 'signalbox'
import { serveBun } from 'signalbox/bun'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage() })
const server = serveBun(gateway, { port: Number(process.env.PORT ?? 4000) })
console.log(`${server.url}v1`)
