import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * What happens to what goes through: `loses` ends the connection of every third write once the server has answered it, and that answer with
 * it; `swallows` keeps connections open and passes nothing on.
 */
export type Fault = 'none' | 'loses' | 'swallows'

/** A TCP proxy before a server on loopback. */
export async function startProxy(port: number) {
  let fault: Fault = 'none'
  let writes = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let isLosing = false
    const follow = (from: Socket, to: Socket, pass: (bytes: Buffer) => void) => {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes: Buffer) => void (fault === 'swallows' || pass(bytes)))
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    follow(client, upstream, (bytes) => {
      if (fault === 'loses' && bytes.includes('EVAL') && ++writes % 3 === 0) isLosing = true
      upstream.write(bytes)
    })
    follow(upstream, client, (bytes) => {
      if (isLosing) client.destroy()
      else client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    is: (how: Fault) => {
      fault = how
    },
    /** How many answers were due to be lost. */
    lost: () => Math.floor(writes / 3),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
