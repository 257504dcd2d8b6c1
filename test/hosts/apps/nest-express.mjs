import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { toExpressHandler } from 'signalbox/express'
import { announce, gateway } from './gateway.mjs'
import { OwnController } from './nest-own.mjs'

class AppModule {}
Module({ controllers: [OwnController] })(AppModule)

const app = await NestFactory.create(AppModule, { logger: false })
app.use('/ai', toExpressHandler(gateway))
await app.listen(0, '127.0.0.1')
announce(app.getHttpServer())
