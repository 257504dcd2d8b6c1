import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { ExchangeGateway } from '../../../adapters/types/gateway-types.ts'
import type { ByteStream, Exchange, Reply } from '../../../src/index.ts'

type ResponseBody = (exchange: Exchange) => Reply | undefined | Promise<Reply | undefined>

/** Creates a gateway with a response that the test sets. It doesn't serve paths below `/host`. */
export function stubGateway(respond: ResponseBody, basePath = ''): ExchangeGateway {
  return {
    basePath,
    matches: (path) => !String(path).startsWith('/host'),
    exchange: async (exchange) => (exchange.path.startsWith('/host') ? undefined : respond(exchange)),
    notFound: ({ path }) => ({
      status: 404,
      headers: { 'content-type': 'application/json' },
      body: `{"error":"${path}"}`,
    }),
  }
}

export const json = (value: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

/** Creates servers and sockets for a test file. `close` closes all of them. */
export function createLab() {
  const servers: Server[] = []
  const sockets: Socket[] = []

  async function listen(listener: RequestListener): Promise<{ port: number; url: string; server: Server }> {
    const server = createServer(listener)
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo // a TCP server's address is never a string
    return { port, url: `http://127.0.0.1:${port}`, server }
  }

  return {
    listen,
    /** Opens a connection that writes the given data and collects everything it receives. */
    dial(port: number, text = ''): Connection {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      if (text) socket.write(text, 'latin1')
      return watchSocket(socket)
    },
    close() {
      for (const socket of sockets) socket.destroy()
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

export interface Connection {
  readonly socket: Socket
  readonly text: string
  /** Waits until the received data matches. Searches only the end if there is a lot of data. */
  until(pattern: RegExp): Promise<string>
  /** Resolves when the connection has closed, to whether it was reset. */
  readonly closed: Promise<{ isReset: boolean }>
}

/** The number of characters searched after each chunk. Searching all of them would take quadratic time. */
const LAST = 64 * 1024

function watchSocket(socket: Socket): Connection {
  let text = ''
  let last = ''
  let isReset = false
  const waiting = new Set<() => void>()
  const check = () => {
    for (const checkPattern of [...waiting]) checkPattern()
  }
  socket.on('data', (chunk) => {
    const part = chunk.toString('latin1')
    text += part
    last = (last + part).slice(-LAST)
    check()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE'
  })
  const closed = new Promise<{ isReset: boolean }>((resolve) => {
    socket.on('close', () => {
      resolve({ isReset })
      check()
    })
  })
  return {
    socket,
    closed,
    get text() {
      return text
    },
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const checkPattern = () => {
          if (pattern.test(last)) resolve(text)
          else if (socket.destroyed) reject(new Error(`closed before ${pattern}; got ${JSON.stringify(text)}`))
          else return
          waiting.delete(checkPattern)
        }
        waiting.add(checkPattern)
        checkPattern()
      }),
  }
}

export interface Source extends ByteStream {
  push(text: string): void
  end(): void
  fail(error: Error): void
  readonly pulls: number
  readonly canceled: Promise<unknown>
  readonly isCanceled: boolean
}

/** Creates a stream that a test fills chunk by chunk. */
export function source(): Source {
  const chunks: Uint8Array[] = []
  let state: 'open' | 'ended' | Error = 'open'
  let wake = () => {}
  let pulls = 0
  const cancel = Promise.withResolvers<unknown>()
  let isCanceled = false
  return {
    push(text) {
      chunks.push(Buffer.from(text))
      wake()
    },
    end() {
      state = 'ended'
      wake()
    },
    fail(error) {
      state = error
      wake()
    },
    async next() {
      pulls += 1
      while (chunks.length === 0 && state === 'open') {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const chunk = chunks.shift()
      if (chunk) return chunk
      if (state instanceof Error) throw state
      return undefined
    },
    cancel(reason) {
      isCanceled = true
      if (state === 'open') state = new Error('cancelled')
      cancel.resolve(reason)
      wake()
    },
    get pulls() {
      return pulls
    },
    canceled: cancel.promise,
    get isCanceled() {
      return isCanceled
    },
  }
}

/** Lets pending callbacks run. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
