// Mounted where Fastify has read the body before.
import Fastify from 'fastify'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'

const app = Fastify()
app.all('/ai/*', (request, reply) => {
  reply.hijack()
  toNodeHandler(gateway)(request.raw, reply.raw)
})
await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
