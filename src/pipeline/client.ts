import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'

/** How long a client waits at most, in ms. */
export const PATIENCE_HEADER = 'x-signalbox-timeout-ms'

/** Whoever waits for an answer, for as long as there is somebody. */
export interface Client {
  /** Why nobody waits any more: the client has left (`CLIENT_CLOSED_REQUEST`), its time is over (`UPSTREAM_TIMEOUT`), or the gateway has closed (`CLOSED`). */
  gone: GatewayError | undefined
  /** When its time is over; epoch ms. */
  timeoutAt: number
  /** The work's result; rejects as soon as nobody waits for it any more. One at a time. */
  unlessGone<T>(work: Promise<T>): Promise<T>
  /** What must end when the client leaves: the attempt under way, then the stream that it brought. */
  follows(work: Cancellable): void
  /** Ends what is under way: nobody waits for it any more. */
  giveUp(reason: unknown): void
  stopWatching(): void
}

interface Cancellable {
  cancel(reason: unknown): void
}

/** The client's leaving, or the end of the gateway itself, reaches whatever is under way for it at once. */
export function watchClient(exchange: Exchange, inFlight: InFlight): Client {
  let work: Cancellable | undefined
  let stopWaiting: ((reason: unknown) => void) | undefined

  function cancel(reason: unknown) {
    client.gone ??= toGatewayError(reason)
    work?.cancel(client.gone)
    stopWaiting?.(client.gone)
  }

  const client: Client = {
    gone: undefined,
    timeoutAt: Number.POSITIVE_INFINITY,
    unlessGone: (promise) =>
      new Promise((resolve, reject) => {
        stopWaiting = reject
        if (client.gone) reject(client.gone)
        promise.then(resolve, reject)
      }),
    follows(next) {
      work = next
      if (client.gone) next.cancel(client.gone)
    },
    giveUp: cancel,
    stopWatching() {
      stopListening()
      done()
    },
  }
  const done = inFlight.add({ cancel })
  const stopListening = exchange.onAbort(() => cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
  return client
}
