import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'

/** Opens an upstream on raw sockets that sends exactly what the test writes. */
export async function rawUpstream(onRequest: (socket: Socket, head: string) => void) {
  const sockets = new Set<Socket>()
  const server = createTcp((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // `close` follows and handles it
    socket.on('data', (chunk) => onRequest(socket, chunk.toString('latin1')))
  })
  const address = await listen(server)
  return { ...address, sockets, server, close: () => closeAll(server, sockets) }
}

/** Opens a `node:http` upstream. */
export async function httpUpstream(listener: RequestListener) {
  const server: HttpServer = createServer(listener)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const address = await listen(server)
  return { ...address, sockets, server, close: () => closeAll(server, sockets) }
}

async function listen(server: Server): Promise<{ url: string; port: number }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  return { port, url: `http://127.0.0.1:${port}` }
}

function closeAll(server: Server, sockets: Set<Socket>): void {
  server.close()
  for (const socket of sockets) socket.destroy()
}

/** Resolves when no connection is left. */
export async function noneLeft(sockets: Set<Socket>): Promise<void> {
  for (const socket of sockets) if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}
