import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * The fault in the traffic: `loses` ends the connection of every third write once the server has answered it, and that answer with it; `swallows`
 * keeps connections open and passes nothing on; `refuses` ends all connections, also new ones; `slows` passes everything on to the server after five
 * seconds; `mutes` does as `swallows` to the connections that there are, for good, and passes on what new ones send.
 */
export type Fault = 'none' | 'loses' | 'swallows' | 'refuses' | 'slows' | 'mutes'

const SLOW_MS = 5_000

/** A TCP proxy before a server on loopback. `isWrite` says whether what a client sends is a write. */
export async function startProxy(port: number, isWrite: (bytes: Buffer) => boolean) {
  let fault: Fault = 'none'
  let writes = 0
  const sockets = new Set<Socket>()
  const mute = new WeakSet<Socket>()
  const server = createServer((client) => {
    if (fault === 'refuses') return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    let isLosing = false
    const follow = (from: Socket, to: Socket, pass: (bytes: Buffer) => void) => {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes: Buffer) => void (fault === 'swallows' || mute.has(from) || pass(bytes)))
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    let sending = Promise.resolve() // in the order in which it came
    follow(client, upstream, (bytes) => {
      if (fault === 'loses' && isWrite(bytes) && ++writes % 3 === 0) isLosing = true
      const slow = fault === 'slows' ? new Promise((resolve) => setTimeout(resolve, SLOW_MS).unref()) : undefined
      sending = Promise.all([sending, slow]).then(() => void (upstream.destroyed || upstream.write(bytes)))
    })
    follow(upstream, client, (bytes) => {
      if (isLosing) client.destroy()
      else client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    is: (how: Fault) => {
      fault = how
      if (how === 'refuses') for (const socket of sockets) socket.destroy()
      if (how === 'mutes') for (const socket of sockets) mute.add(socket)
    },
    /** The number of responses to lose so far. */
    lost: () => Math.floor(writes / 3),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Does a client of Redis send a write of the store? Each is a script. */
export const isRedisWrite = (bytes: Buffer) => bytes.includes('EVAL')

/** The same for Postgres: each write tells of itself. */
export const isPostgresWrite = (bytes: Buffer) => bytes.includes('pg_notify')
