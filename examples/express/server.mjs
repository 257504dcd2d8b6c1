// npm install express; node examples/express/server.mjs
import express from 'express'
import { createGateway } from 'signalbox'
import { toExpressHandler } from 'signalbox/express'
import { memoryStorage } from 'signalbox/storage/memory'

const gateway = createGateway({ storage: memoryStorage() })
await gateway.api.connections.create({ provider: 'openai', apiKey: process.env.OPENAI_API_KEY ?? 'none' })

const app = express()
app.use('/ai', toExpressHandler(gateway)) // clients use http://127.0.0.1:3000/ai/v1
app.get('/', (_request, response) => response.send('the app itself'))
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/ai/v1`)
})
