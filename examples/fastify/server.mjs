import Fastify from 'fastify'
import { toNodeHandler } from 'signalbox/node'
import { gateway } from './gateway.mjs'

const app = Fastify()

// A plugin without body parsers, which would read the body before the gateway does.
await app.register((scope, _options, done) => {
  const handler = toNodeHandler(gateway)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, next) => next(null))
  scope.all('/ai/*', (request, reply) => {
    reply.hijack()
    handler(request.raw, reply.raw)
  })
  done()
})

app.get('/', () => 'the app itself')

const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`${address}/ai/v1`)

process.once('SIGTERM', async () => {
  await app.close()
  await gateway.close()
})
