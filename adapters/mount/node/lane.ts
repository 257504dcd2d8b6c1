import { Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'
import { type Throttle, throttle } from './throttle.ts'
import type { UndiciParts } from './undici.ts'

/** How long an idle connection is kept. */
const KEEP_ALIVE_MS = 60_000

/** One connection to an origin, used by one call at a time. */
export interface Lane extends Throttle {
  readonly client: Client
  /** The error that broke the connection, if any: undici takes a reset for the end of a body without a length. */
  readonly broken: Error | undefined
  /** Takes the connection for a call. */
  claim(): void
  /** Ends the call; the connection may serve another. */
  free(): void
  /** Closes the connection in any phase, even while connecting. */
  drop(): void
}

/** What a connection is made with: undici's client, and how it connects. */
export interface LaneTerms extends Pick<UndiciParts, 'Client'> {
  connect: buildConnector.connector
}

/** Called when a lane is idle again, and when it has ended. */
export interface LaneEvents {
  onFree(): void
  onGone(): void
}

/** Makes a lane, which connects with its first call. undici's time-outs are off: the gateway has deadlines on its own clock. */
export function createLane(origin: string, { Client, connect }: LaneTerms, events: LaneEvents): Lane {
  let socket: Socket | undefined
  let valve: Throttle | undefined
  let broken: Error | undefined
  let isBusy = false
  let isGone = false

  const client = new Client(origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect(options, callback) {
      const connecting: unknown = connect(options, (...outcome) => {
        if (outcome[1]) adopt(outcome[1])
        callback(...outcome)
      })
      if (connecting instanceof Socket) socket = connecting // undici returns it, its types do not say so
    },
  })
  // A busy client connects again by itself; an idle one whose connection has ended is of no use.
  client.on('disconnect', () => void (isBusy || drop()))

  /** Before undici sees the socket, so that our listener hears of an error first. */
  function adopt(connected: Socket) {
    broken = undefined
    valve = throttle(connected)
    connected.once('error', (error) => {
      broken = error
    })
  }

  function drop() {
    if (isGone) return
    isGone = true
    events.onGone()
    socket?.destroy()
    void client.destroy()
  }

  return {
    client,
    drop,
    get broken() {
      return broken
    },
    claim() {
      isBusy = true
    },
    free() {
      isBusy = false
      valve?.release()
      if (!isGone) events.onFree()
    },
    hold: () => valve?.hold(),
    release: () => valve?.release(),
  }
}
