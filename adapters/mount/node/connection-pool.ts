import { Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'
import type { UndiciParts } from './undici.ts'

/** Pauses a socket's reader. */
interface Throttle {
  pause(): void
  resume(): void
}

/**
 * Creates a throttle for a socket's reader. While it is paused, `read()` returns nothing, and the socket stops its peer once its buffer is full.
 * undici 7 pauses its parser instead, in which case a peer that closes the connection crashes the process (nodejs/undici#5360).
 */
function createThrottle(socket: Socket): Throttle {
  const read = socket.read
  let isHeld = false
  socket.read = (size) => (isHeld ? null : read.call(socket, size))
  return {
    pause() {
      isHeld = true
    },
    resume() {
      if (!isHeld) return
      isHeld = false
      socket.emit('readable')
    },
  }
}

/** How long to keep an idle connection, in ms. */
const KEEP_ALIVE_MS = 60_000

/** One connection to an origin, used by one call at a time. */
export interface PooledConnection extends Throttle {
  readonly client: Client
  /** The error that broke the connection, if any. undici treats a reset as the end of a body without a length. */
  readonly failure: Error | undefined
  /** Reserves the connection for a call. */
  claim(): void
  /** Ends the call, so the connection can be used for another call. */
  free(): void
  /** Closes the connection. Can be called at any time, even while it's connecting. */
  drop(): void
}

/** The parts of undici that create a connection, and its options. */
export interface ConnectionOptions extends Pick<UndiciParts, 'Client'> {
  connect: buildConnector.connector
}

/** Called when a connection becomes idle, and when it ends. */
interface ConnectionEvents {
  onFree(): void
  onClose(): void
}

/** Creates a connection that opens on its first call. undici's timeouts are off because the gateway enforces its own deadlines. */
function createConnection(
  origin: string,
  { Client, connect }: ConnectionOptions,
  events: ConnectionEvents,
): PooledConnection {
  let socket: Socket | undefined
  let throttle: Throttle | undefined
  let failure: Error | undefined
  let isBusy = false
  let isClosed = false

  const client = new Client(origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect(options, callback) {
      const connecting: unknown = connect(options, (...outcome) => {
        if (outcome[1]) attachSocket(outcome[1])
        callback(...outcome)
      })
      if (connecting instanceof Socket) socket = connecting // undici returns the socket, although its types don't declare that
    },
  })
  // A busy client reconnects on its own. An idle client is dropped when its connection ends.
  client.on('disconnect', () => void (isBusy || drop()))

  /** Called before undici receives the socket, so the pool's error listener runs first. */
  function attachSocket(connected: Socket) {
    failure = undefined
    throttle = createThrottle(connected)
    connected.once('error', (error) => {
      failure = error
    })
  }

  function drop() {
    if (isClosed) return
    isClosed = true
    events.onClose()
    socket?.destroy()
    void client.destroy()
  }

  return {
    client,
    drop,
    get failure() {
      return failure
    },
    claim() {
      isBusy = true
    },
    free() {
      isBusy = false
      throttle?.resume()
      if (!isClosed) events.onFree()
    },
    pause: () => throttle?.pause(),
    resume: () => throttle?.resume(),
  }
}

/** The connections to all providers. */
export interface ConnectionPool {
  /** Returns the most recently used idle connection to the origin, or a new one. */
  take(origin: string): PooledConnection
  /** Closes all connections. */
  close(): void
}

/**
 * Keeps as many connections to each origin as the load requires. Uses one undici client per connection instead of undici's pool: the pool doesn't
 * expose the connection of a call, so a single call couldn't be paused or aborted.
 */
export function createConnectionPool(options: ConnectionOptions): ConnectionPool {
  const idle = new Map<string, PooledConnection[]>()
  const all = new Set<PooledConnection>()

  function open(origin: string, free: PooledConnection[]): PooledConnection {
    const connection = createConnection(origin, options, {
      onFree: () => void free.push(connection),
      onClose() {
        all.delete(connection)
        const index = free.indexOf(connection)
        if (index >= 0) free.splice(index, 1)
      },
    })
    all.add(connection)
    return connection
  }

  return {
    take(origin) {
      const free = idle.get(origin) ?? []
      if (free.length === 0) idle.set(origin, free)
      const connection = free.pop() ?? open(origin, free)
      connection.claim()
      return connection
    },
    close() {
      for (const connection of [...all]) connection.drop()
    },
  }
}
