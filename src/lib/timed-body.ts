import { gatewayError } from '../errors.ts'
import type { Clock } from '../types.ts'
import { type CancelDeadline, startDeadline } from './deadline.ts'
import type { Exchange } from './exchange.ts'
import type { Scope } from './scope.ts'

export interface BodyLimits {
  maxBytes: number
  /** Default: no limit. */
  timing?: BodyTiming
  /** Ending this scope rejects the read. */
  scope?: Scope
}

export interface BodyTiming {
  /** Time to the last byte, in ms. */
  timeoutMs: number
  clock: Clock
  /** Resolves at the end of the event loop's turn. Most bodies have arrived by then and need no timer. */
  nextTurn(): Promise<void>
}

/**
 * Reads a request body. Rejects like `Exchange.body`, and with `REQUEST_TIMEOUT` after the timeout, because not every platform ends stalled requests.
 * That response closes the connection, because the rest of the body may still arrive.
 */
export function readTimedBody(
  exchange: Pick<Exchange, 'body'>,
  { maxBytes, timing, scope }: BodyLimits,
): Promise<Uint8Array> {
  const body = exchange.body(maxBytes)
  if (!timing) return body
  const { clock, timeoutMs, nextTurn } = timing
  return new Promise((resolve, reject) => {
    scope?.add(reject)
    const startedAt = clock.now()
    let hasEnded = false
    let cancelDeadline: CancelDeadline | undefined
    const finish = () => {
      hasEnded = true
      cancelDeadline?.()
      scope?.remove(reject)
    }
    body.then(
      (bytes) => {
        finish()
        resolve(bytes)
      },
      (error) => {
        finish()
        reject(error)
      },
    )
    const expire = () => {
      const message = `The request body did not arrive within ${timeoutMs / 1_000} s.`
      reject(gatewayError('REQUEST_TIMEOUT', { message, headers: { connection: 'close' } }))
    }
    void nextTurn().then(() => {
      if (!hasEnded) cancelDeadline = startDeadline(clock, timeoutMs - (clock.now() - startedAt), expire)
    })
  })
}
