import { createServer } from 'node:http'
import { toNodeHandler } from 'signalbox/node'
import { openGateway } from './open-gateway.mjs'
import { announce, urlOf } from './process.ts'

const { gateway, key } = await openGateway()
const server = createServer({ noDelay: true }, toNodeHandler(gateway))
server.listen(0, '127.0.0.1', () => announce({ url: urlOf(server), key }))
