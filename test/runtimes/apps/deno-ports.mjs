import { serveDeno } from 'signalbox/deno'
import { openGateway } from './gateway.mjs'

/** Prints whether servers from `serveDeno` accept requests immediately, reject a taken port, and release it when closed. */
const said = {}
for (const hostname of ['127.0.0.1', 'localhost', '::1']) {
  const server = serveDeno(openGateway(), { hostname })
  const { status } = await fetch(`${server.url}/v1/models`) // immediately, because the server must already be listening
  said[hostname] = [status, server.url === `http://${server.addr.hostname.replace('::1', '[::1]')}:${server.port}`]
  try {
    serveDeno(openGateway(), { hostname, port: server.port })
  } catch (error) {
    said[hostname].push(error.name)
  }
  await Promise.all([server.close(), server.finished])
  said[hostname].push(
    await fetch(server.url).then(
      () => 'open',
      () => 'closed',
    ),
  )
}
console.log(JSON.stringify(said))
