import { createServer } from 'node:http'
import { Pool } from 'undici'

/*
 * The bare proxy that the gateway is compared with. It passes requests and responses through without parsing them. It is written in JavaScript, so
 * its startup time doesn't include type stripping.
 */
const pool = new Pool(process.env.PROVIDER, { connections: 2_048, keepAliveTimeout: 60_000 })
const ownHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

function forward(request, response, body) {
  const headers = []
  for (const name in request.headers) if (!ownHeaders.has(name)) headers.push(name, request.headers[name])
  let control
  response.on('close', () => response.writableFinished || control?.abort(new Error('The client has disconnected.')))
  pool.dispatch(
    { path: request.url, method: request.method, headers, body },
    {
      onRequestStart(controller) {
        control = controller
      },
      onResponseStart(_, status, headers) {
        const kept = {}
        for (const name in headers) if (name === 'content-length' || !ownHeaders.has(name)) kept[name] = headers[name]
        response.writeHead(status, kept)
      },
      onResponseData(controller, chunk) {
        if (response.write(chunk)) return
        controller.pause()
        response.once('drain', () => controller.resume())
      },
      onResponseEnd: () => response.end(),
      onResponseError: () => response.destroy(),
    },
  )
}

const server = createServer({ noDelay: true }, (request, response) => {
  const parts = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => forward(request, response, parts.length === 1 ? parts[0] : Buffer.concat(parts)))
})
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })))
