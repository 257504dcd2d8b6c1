import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'

/** The header by which a client says how long it waits at most, in ms. */
export const TIMEOUT_HEADER = 'x-signalbox-timeout-ms'

/** The client of a request, for as long as it waits for the answer. */
export interface Client {
  /**
   * Why the client no longer waits: it has left (`CLIENT_CLOSED_REQUEST`), its time-out is over (`UPSTREAM_TIMEOUT`), or the gateway has
   * closed (`CLOSED`).
   */
  gone: GatewayError | undefined
  /** When its time-out ends; epoch ms. */
  timeoutAt: number
  /** The result of the work; rejects with `gone` as soon as the client no longer waits. One call at a time. */
  unlessGone<T>(work: Promise<T>): Promise<T>
  /** Sets what is cancelled when the client leaves: the attempt under way, then the stream that it brought. */
  follows(work: Cancellable): void
  /** The same for work beside it; it is also cancelled when there is an answer without it. Returns the function that ends this. */
  alsoFollows(work: Cancellable): () => void
  /** Cancels what is under way; the client no longer waits. */
  giveUp(reason: unknown): void
  stopWatching(): void
}

interface Cancellable {
  cancel(reason: unknown): void
}

/** Watches for the client's leaving and the gateway's closing; either cancels at once what is under way for it. */
export function watchClient(exchange: Exchange, inFlight: InFlight): Client {
  let work: Cancellable | undefined
  let beside: Set<Cancellable> | undefined // most requests have none
  let isOver = false
  let stopWaiting: ((reason: unknown) => void) | undefined

  function cancel(reason: unknown) {
    client.gone ??= toGatewayError(reason)
    work?.cancel(client.gone)
    cancelBeside()
    stopWaiting?.(client.gone)
  }

  function cancelBeside() {
    for (const other of beside ?? []) other.cancel(client.gone)
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
    alsoFollows(other) {
      beside ??= new Set()
      beside.add(other)
      if (client.gone || isOver) other.cancel(client.gone)
      return () => void beside?.delete(other)
    },
    giveUp: cancel,
    stopWatching() {
      isOver = true
      cancelBeside()
      stopListening()
      done()
    },
  }
  const done = inFlight.add({ cancel })
  const stopListening = exchange.onAbort(() => cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
  return client
}
