import { gatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { Exchange } from '../lib/exchange.ts'
import { inThisContext } from '../lib/in-context.ts'
import type { Clock } from '../types.ts'
import { type Client, TIMEOUT_HEADER as HEADER } from './client.ts'

const MAX_MS = 24 * 60 * 60 * 1_000

/**
 * Ends the request when the time-out that the client asked for is over. It covers all attempts, until the answer is whole or its stream has
 * begun, and can only shorten the gateway's own time-outs. Throws `INVALID_REQUEST` unless the header is a whole number of ms, from 1 to a
 * day.
 */
export function startClientTimeout(
  exchange: Pick<Exchange, 'header'>,
  client: Pick<Client, 'timeoutAt' | 'giveUp'>,
  clock: Clock,
): CancelDeadline | undefined {
  const ms = askedMs(exchange)
  if (ms === undefined) return undefined
  if (Number.isNaN(ms)) {
    throw gatewayError('INVALID_REQUEST', {
      message: `The header "${HEADER}" must be a whole number of milliseconds from 1 to ${MAX_MS}.`,
    })
  }
  client.timeoutAt = clock.now() + ms
  let isStopped = false
  const giveUp = inThisContext<void>(() => isStopped || client.giveUp(late(ms))) // it calls hooks
  const cancel = startDeadline(clock, ms, giveUp)
  return () => {
    isStopped = true
    cancel()
  }
}

/** The same for work before the request has been parsed. */
export function unlessLate<T>(work: Promise<T>, exchange: Exchange, clock: Clock): Promise<T> {
  const ms = askedMs(exchange)
  if (ms === undefined || Number.isNaN(ms)) return work
  return new Promise((resolve, reject) => {
    const cancelDeadline = startDeadline(clock, ms, () => reject(late(ms)))
    work.finally(cancelDeadline).then(resolve, reject)
  })
}

/** In ms; `NaN` when the header is invalid. */
function askedMs(exchange: Pick<Exchange, 'header'>): number | undefined {
  const text = exchange.header(HEADER)?.trim()
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return ms < 1 || ms > MAX_MS ? Number.NaN : ms
}

const late = (ms: number) =>
  gatewayError('UPSTREAM_TIMEOUT', {
    message: `There was no answer within the ${ms} ms of "${HEADER}".`,
  })
