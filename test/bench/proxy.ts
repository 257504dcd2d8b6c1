import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Dispatcher, Pool } from 'undici'
import { announce, urlOf } from './process.ts'

/** The floor: passes bytes from one side to the other and looks at none of them. */
const pool = new Pool(process.env.PROVIDER ?? '', { connections: 1024 })

function forward({ url = '/', headers }: IncomingMessage, response: ServerResponse, body: Buffer) {
  let control: Dispatcher.DispatchController | undefined
  response.on('close', () => response.writableFinished || control?.abort(new Error('The client has left.')))
  const passed = { 'content-type': String(headers['content-type']), authorization: String(headers.authorization) }
  pool.dispatch(
    { path: url, method: 'POST', headers: passed, body },
    {
      onRequestStart(controller) {
        control = controller
      },
      onResponseStart(_, status, { 'transfer-encoding': _hop, connection: _own, 'keep-alive': _too, ...kept }) {
        response.writeHead(status, kept)
      },
      onResponseData(controller, chunk) {
        if (response.write(chunk)) return
        controller.pause()
        response.once('drain', () => controller.resume())
      },
      onResponseEnd: () => void response.end(),
      onResponseError: () => void response.destroy(),
    },
  )
}

const server = createServer({ noDelay: true }, (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => forward(request, response, Buffer.concat(parts)))
})
server.listen(0, '127.0.0.1', () => announce({ url: urlOf(server) }))
