import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { InFlight } from '../lib/background.ts'
import type { Exchange } from '../lib/exchange.ts'

/** Whoever waits for an answer, for as long as there is somebody. */
export interface Client {
  /** Why nobody waits any more: the client has left (`CLIENT_CLOSED_REQUEST`), or the gateway has closed (`CLOSED`). */
  readonly gone: GatewayError | undefined
  throwIfGone(): void
  /** The work's result; rejects as soon as nobody waits for it any more. */
  unlessGone<T>(work: Promise<T>): Promise<T>
  /** What must end when the client leaves: the attempt under way, then the stream that it brought. */
  follows(work: Cancellable): void
  stopWatching(): void
}

interface Cancellable {
  cancel(reason: unknown): void
}

/** The client's leaving, or the end of the gateway itself, reaches whatever is under way for it at once. */
export function watchClient(exchange: Exchange, inFlight: InFlight): Client {
  let gone: GatewayError | undefined
  let work: Cancellable | undefined

  function cancel(reason: unknown) {
    gone ??= toGatewayError(reason)
    work?.cancel(gone)
  }

  function follows(next: Cancellable) {
    work = next
    if (gone) next.cancel(gone)
  }

  const done = inFlight.add({ cancel })
  const stopListening = exchange.onAbort(() => cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
  return {
    get gone() {
      return gone
    },
    throwIfGone() {
      if (gone) throw gone
    },
    unlessGone: (promise) =>
      new Promise((resolve, reject) => {
        follows({ cancel: reject })
        promise.then(resolve, reject)
      }),
    follows,
    stopWatching() {
      stopListening()
      done()
    },
  }
}
