import Koa from 'koa'
import { toNodeHandler } from 'signalbox/node'
import { announce, gateway } from './gateway.mjs'

const app = new Koa()
const handler = toNodeHandler(gateway)
app.use((context, next) => {
  if (!context.path.startsWith('/ai/')) return next()
  context.respond = false
  handler(context.req, context.res)
})
app.use(async (context) => {
  if (context.path !== '/own') return void Object.assign(context, { status: 404, body: 'the app' })
  context.type = 'json'
  context.body = context.req
})
const server = app.listen(0, '127.0.0.1', () => announce(server))
