import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * The fault that the proxy injects. `loses` runs every third write, but drops its response and closes the connection. `swallows` keeps connections
 * open and forwards nothing. `refuses` closes all connections, including new ones. `slows` forwards data to the server after 5 s. `mutes` swallows
 * all traffic on existing connections forever, and forwards it on new ones.
 */
export type Fault = 'none' | 'loses' | 'swallows' | 'refuses' | 'slows' | 'mutes'

const SLOW_MS = 5_000

/** Starts a TCP proxy in front of a server on loopback. `isWrite` returns whether data from a client is a write. */
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
    let sending = Promise.resolve() // keeps the order in which data arrived
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
    is: (mode: Fault) => {
      fault = mode
      if (mode === 'refuses') for (const socket of sockets) socket.destroy()
      if (mode === 'mutes') for (const socket of sockets) mute.add(socket)
    },
    /** The number of responses to lose so far. */
    lost: () => Math.floor(writes / 3),
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Returns whether data from a Redis client is a store write. Each write is a script. */
export const isRedisWrite = (bytes: Buffer) => bytes.includes('EVAL')

/** Returns whether data from a Postgres client is a store write. Each write sends a notification. */
export const isPostgresWrite = (bytes: Buffer) => bytes.includes('pg_notify')
