import Fastify from 'fastify'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'

const app = Fastify()
await app.register((scope, _options, done) => {
  const handler = toNodeHandler(gateway)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, next) => next(null)) // the gateway reads bodies itself
  scope.all('/ai/*', (request, reply) => {
    reply.hijack()
    handler(request.raw, reply.raw)
  })
  done()
})
app.post('/own', (request) => request.body)
app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'the app' }))
await app.listen({ port: 0, host: '127.0.0.1' })
announce(app.server)
