import { serveBun } from 'signalbox/bun'
import { openGateway } from './open-gateway.mjs'
import { announce } from './process.ts'

const { gateway, key } = await openGateway()
announce({ url: serveBun(gateway).url.origin, key })
