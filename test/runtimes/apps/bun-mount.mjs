import { serveBun } from 'signalbox/bun'
import { openGateway } from './gateway.mjs'

const server = serveBun(openGateway(), { port: Number(process.argv[2] ?? 0) })
console.log(server.url.origin)
process.stdin.on('data', async () => {
  await server.close({ graceMs: 200 })
  process.exit(7)
})
