// deno run --allow-net --allow-env examples/deno/server.mjs
import { createGateway } from 'signalbox'
import { serveDeno } from 'signalbox/deno'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage() })
const server = serveDeno(gateway, { port: Number(Deno.env.get('PORT') ?? 4000) })
console.log(`${server.url}/v1`)
