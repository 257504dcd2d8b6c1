import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'
import { OwnController } from './nest-own.mjs'

class AppModule {}
Module({ controllers: [OwnController] })(AppModule)

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false })
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
await app.listen(0, '127.0.0.1')
announce(app.getHttpServer())
