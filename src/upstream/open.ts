import { type GatewayError, gatewayError } from '../errors.ts'
import { startCall } from '../lib/call.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import type { Clock } from '../types.ts'

export interface OpenOptions {
  fetch: UpstreamFetch
  clock: Clock
  /** From the start of the call to the headers of the answer. */
  headersTimeoutMs: number
  /** Between two chunks of the body. */
  silenceTimeoutMs: number
}

/**
 * Starts a call whose every wait ends: by its headers or chunks, by a time-out (`UPSTREAM_TIMEOUT`), by `cancel`, or by a failure of
 * the network (`UPSTREAM_UNREACHABLE` before the headers, `UPSTREAM_CUT` in the body), whatever the HTTP client does with its signal.
 */
export function openUpstream(call: UpstreamCall, options: OpenOptions): PendingAnswer {
  const { fetch, clock, headersTimeoutMs, silenceTimeoutMs } = options
  let rejectWait: ((reason: unknown) => void) | undefined
  let stopped: { reason: unknown } | undefined
  let source: ByteStream | undefined
  const pending = startCall(fetch, call)
  const headersDeadline = startDeadline(clock, headersTimeoutMs, () => {
    stop(
      gatewayError('UPSTREAM_TIMEOUT', { message: `The provider sent no answer within ${seconds(headersTimeoutMs)}.` }),
    )
  })

  function stop(reason: unknown) {
    if (stopped) return
    stopped = { reason }
    headersDeadline.cancel()
    rejectWait?.(reason)
    pending.cancel(reason)
    source?.cancel(reason)
  }

  /** At most one wait at a time: the headers, then one chunk after the other. */
  function wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (stopped) reject(stopped.reason)
      rejectWait = reject
      promise.then(resolve, reject)
    })
  }

  async function answer(): Promise<UpstreamAnswer> {
    try {
      const head = await wait(pending.answer)
      headersDeadline.cancel()
      source = head.body
      return { ...head, body: watched(source) }
    } catch (cause) {
      headersDeadline.cancel()
      if (stopped) pending.answer.then(({ body }) => body.cancel(stopped?.reason)).catch(() => {}) // it comes too late
      throw stopped ? stopped.reason : unreachable(cause)
    }
  }

  /** Silence counts while a chunk is waited for; a client that reads slowly is not the provider's silence. */
  function watched(body: ByteStream): ByteStream {
    let waitingSince: number | undefined
    let deadline = startDeadline(clock, silenceTimeoutMs, silent)
    function silent() {
      if (stopped) return
      const leftMs = (waitingSince ?? clock.now()) + silenceTimeoutMs - clock.now()
      if (leftMs > 0) deadline = startDeadline(clock, leftMs, silent)
      else
        stop(gatewayError('UPSTREAM_TIMEOUT', { message: `The provider was silent for ${seconds(silenceTimeoutMs)}.` }))
    }
    return {
      async next() {
        waitingSince = clock.now()
        try {
          const chunk = await wait(body.next())
          if (!chunk) deadline.cancel()
          return chunk
        } catch (cause) {
          deadline.cancel()
          throw stopped ? stopped.reason : gatewayError('UPSTREAM_CUT', { cause })
        } finally {
          waitingSince = undefined
        }
      },
      cancel(reason) {
        deadline.cancel()
        stop(reason)
      },
    }
  }

  return { answer: answer(), cancel: stop }
}

const seconds = (ms: number) => `${ms / 1000} s`

/**
 * The failure in words that name no address: ECONNREFUSED, ENOTFOUND, a TLS code. Only a cause with such a code is kept: an error about
 * the request itself may quote a header.
 */
function unreachable(thrown: unknown): GatewayError {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') return gatewayError('UPSTREAM_UNREACHABLE')
  return gatewayError('UPSTREAM_UNREACHABLE', { message: `The provider cannot be reached (${code}).`, cause })
}
