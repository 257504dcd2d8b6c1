import { Hono } from 'hono'
import { gateway } from './gateway.mjs'

const app = new Hono()
app.all('/ai/*', (c) => gateway.fetch(c.req.raw))
app.post('/own', async (c) => c.json(await c.req.json()))
app.notFound((c) => c.json({ error: 'the app' }, 404))
const onListen = ({ port }) => console.log(`http://127.0.0.1:${port}`)
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, app.fetch)
