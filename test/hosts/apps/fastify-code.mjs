// The argument is the code that mounts the gateway.
import Fastify from 'fastify'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'

const app = Fastify()
new Function('app', 'gateway', 'toNodeHandler', process.argv[2])(app, gateway, toNodeHandler)
app.post('/own', (request) => request.body)
app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'the app' }))
await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
