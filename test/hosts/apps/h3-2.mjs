import { H3, serve } from 'h3'
import { gateway } from './gateway.mjs'

const app = new H3()
app.all('/ai/**', (event) => gateway.fetch(event.req))
app.post('/own', (event) => event.req.json())
app.all('/**', () => Response.json({ error: 'the app' }, { status: 404 }))
const server = serve(app, { port: 0, hostname: '127.0.0.1', silent: true })
await server.ready()
console.log(new URL(server.url).origin)
