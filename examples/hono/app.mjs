// npm install hono; serve the default export with any of Hono's adapters
import { Hono } from 'hono'
import { createGateway } from 'signalbox'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage(), basePath: '/ai' })

const app = new Hono()
app.all('/ai/*', (context) => gateway.fetch(context.req.raw))
app.get('/', (context) => context.text('the app itself'))
export default app
