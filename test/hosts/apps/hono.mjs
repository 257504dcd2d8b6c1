// The argument is the Node server package for Hono.
import { Hono } from 'hono'
import { gateway } from './gateway.mjs'

const { serve } = await import(process.argv[2])
const app = new Hono()
app.all('/ai/*', (c) => gateway.fetch(c.req.raw))
app.post('/own', async (c) => c.json(await c.req.json()))
app.notFound((c) => c.json({ error: 'the app' }, 404))
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(`http://127.0.0.1:${port}`))
