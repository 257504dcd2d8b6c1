import { serveDeno } from 'signalbox/deno'
import { openGateway } from './gateway.mjs'

const server = serveDeno(openGateway())
console.log(server.url)
for await (const _ of Deno.stdin.readable) {
  await server.close({ graceMs: 200 })
  Deno.exit(7)
}
