import { gatewayError } from '../errors.ts'
import { startCall } from '../lib/call.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import type { Clock } from '../types.ts'

/** The `fetch` of a call, and its time-outs. */
export interface OpenOptions {
  fetch: UpstreamFetch
  clock: Clock
  /** From the start of the call to the headers of the answer. */
  headersTimeoutMs: number
  /** Between two chunks of the body. */
  silenceTimeoutMs: number
  /** From the start of the call to the end of the body; a stream has no such limit after its first content. */
  totalTimeoutMs: number
  stream?: boolean
}

/** A call under way, whose time-outs depend on its answer. */
export interface OpenedUpstream extends PendingAnswer {
  /** Replaces `totalTimeoutMs`, once the headers are here: the stream has begun, or turned out to be none. */
  setTotal(timeoutMs: number): void
  /** What is left of the body has so long at most. */
  hurry(timeoutMs: number): void
}

/**
 * Starts a call whose every wait ends: by its headers or chunks, by a time-out (`UPSTREAM_TIMEOUT`), by `cancel`, or by a failure of
 * the network (`UPSTREAM_UNREACHABLE` before the headers, `UPSTREAM_CUT` in the body), whatever the HTTP client does with its signal.
 */
export function openUpstream(call: UpstreamCall, options: OpenOptions): OpenedUpstream {
  const { fetch, clock, headersTimeoutMs, silenceTimeoutMs } = options
  const startedAt = clock.now()
  let { totalTimeoutMs, stream: isOpening = false } = options
  let isAnswered = false
  let waitingSince: number | undefined
  let stopped: { reason: unknown } | undefined
  const pending = startCall(fetch, call)
  // Never later than silence could end, so that nothing has to be set anew when the headers come.
  let deadline = startDeadline(clock, Math.min(headersTimeoutMs, silenceTimeoutMs, totalTimeoutMs), watch)

  const endsAt = () => startedAt + totalTimeoutMs
  const notFinished = () =>
    timedOut(`${isOpening ? 'sent no answer' : 'did not finish its answer'} within ${totalTimeoutMs / 1000} s`)

  function stop(reason: unknown) {
    if (stopped) return
    stopped = { reason }
    deadline.cancel()
    pending.cancel(reason)
  }

  function onHead({ status, header, headers, body }: UpstreamAnswer): UpstreamAnswer {
    if (stopped) throw stopped.reason
    isAnswered = true
    return { status, header, headers, body: watched(body) }
  }

  async function onBroken(thrown: unknown): Promise<never> {
    deadline.cancel()
    if (stopped) throw stopped.reason
    const { brokenCall } = await import('./broken-call.ts')
    throw brokenCall(thrown, isAnswered)
  }

  /** Silence counts while a chunk is waited for; a client that reads slowly is not the provider's silence. */
  function watch() {
    const now = clock.now()
    const leftMs = (isAnswered ? (waitingSince ?? now) + silenceTimeoutMs : startedAt + headersTimeoutMs) - now
    deadline.cancel()
    if (now >= endsAt()) stop(notFinished())
    else if (leftMs > 0) deadline = startDeadline(clock, Math.min(leftMs, silenceTimeoutMs, endsAt() - now), watch)
    else if (isAnswered) stop(timedOut(`was silent for ${silenceTimeoutMs / 1000} s`))
    else stop(timedOut(`sent no answer within ${headersTimeoutMs / 1000} s`))
  }

  function watched(body: ByteStream): ByteStream {
    function onChunk(chunk: Uint8Array | undefined) {
      if (stopped) throw stopped.reason
      waitingSince = undefined
      if (!chunk) deadline.cancel()
      return chunk
    }

    function onWhole(bytes: Uint8Array) {
      deadline.cancel()
      if (stopped) throw stopped.reason
      return bytes
    }

    const { whole } = body
    const stream: ByteStream = {
      next() {
        waitingSince = clock.now()
        return body.next().then(onChunk, onBroken)
      },
      cancel: stop,
    }
    if (whole)
      stream.whole = () => {
        waitingSince = clock.now()
        return whole().then(onWhole, onBroken)
      }
    return stream
  }

  return {
    answer: pending.answer.then(onHead, onBroken),
    cancel: stop,
    setTotal(timeoutMs) {
      const isSooner = timeoutMs < totalTimeoutMs
      totalTimeoutMs = timeoutMs
      isOpening = false
      if (isSooner && !stopped) watch() // else whoever wakes first sees that there is more time
    },
    hurry(timeoutMs) {
      totalTimeoutMs = Math.min(totalTimeoutMs, clock.now() - startedAt + timeoutMs)
      if (!stopped) watch()
    },
  }
}

const timedOut = (what: string) => gatewayError('UPSTREAM_TIMEOUT', { message: `The provider ${what}.` })
