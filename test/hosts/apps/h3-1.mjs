import { createServer } from 'node:http'
import { createApp, createError, eventHandler, fromNodeMiddleware, readBody, toNodeListener } from 'h3-1'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'

const app = createApp()
app.use('/ai', fromNodeMiddleware(toNodeHandler(gateway)))
app.use(
  '/own',
  eventHandler((event) => readBody(event)),
)
app.use(
  eventHandler(() => {
    throw createError({ statusCode: 404, statusMessage: 'the app' })
  }),
)
const server = createServer(toNodeListener(app)).listen(0, '127.0.0.1', () => announce(server))
