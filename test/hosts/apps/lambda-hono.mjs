import { Hono } from 'hono'
import { toLambdaHandler } from 'signalbox/lambda'
import { gateway } from './gateway.mjs'

const app = new Hono()
app.all('/ai/*', (c) => gateway.fetch(c.req.raw))
app.post('/own', async (c) => c.json(await c.req.json()))
app.notFound((c) => c.json({ error: 'the app' }, 404))
export const handler = toLambdaHandler(app)
