import express from 'express'
import { toExpressHandler } from 'signalbox/express'
import { openGateway } from './gateway.mjs'

const app = express()
app.use('/ai', toExpressHandler(openGateway()))
app.use((_request, response) => response.status(404).json({ error: 'the app' }))
const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/ai`))
