import { serveDeno } from 'signalbox/deno'
import { openGateway } from './gateway.mjs'

/** Prints how `serveDeno` handles addresses, before and after it returns. */
const said = {}
for (const hostname of ['127.0.0.1', 'localhost', '::1']) {
  const server = serveDeno(openGateway(), { hostname })
  const { status } = await fetch(`${server.url}/v1/models`) // directly after the call
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
