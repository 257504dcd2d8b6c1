// deno run --allow-net --allow-env examples/deno/server.mjs
import { createGateway } from 'signalbox'
import { serveDeno } from 'signalbox/deno'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage() })
serveDeno(gateway, { port: Number(Deno.env.get('PORT') ?? 4000) })
