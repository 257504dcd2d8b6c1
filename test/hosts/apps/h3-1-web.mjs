// Mounts the gateway with toWebRequest, which hides client disconnects.
import { createServer } from 'node:http'
import { createApp, eventHandler, toNodeListener, toWebRequest } from 'h3-1'
import { announce, gateway } from './gateway.mjs'

const app = createApp()
app.use(eventHandler((event) => gateway.fetch(toWebRequest(event))))
const server = createServer(toNodeListener(app)).listen(0, '127.0.0.1', () => announce(server))
