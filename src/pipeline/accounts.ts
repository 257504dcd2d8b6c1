import type { GatewayError } from '../errors.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import type { FailedTry, Success } from './try.ts'

/** Tells what has become of one attempt to the target's health, to its statistics and to the report of the request. */
export interface Accounts {
  /** The health hears of an empty answer when it is known whether the client gets it. */
  settled(result: Success | FailedTry): void
  /** The client no longer waits. */
  cancelled(why: GatewayError): void
  /** Another attempt was faster. */
  outrun(): void
  /** The target is no longer busy with it: the last byte has been sent, or there is none to send. */
  ended(): void
}

/** Opens the accounts of an attempt that begins. */
export function openAccounts(request: ModelRequest, { route, trial }: Candidate): Accounts {
  const { call, context, report } = request
  const { clock, targetStats, observer } = context
  const begun = report.begin()
  const running = targetStats.begin(route.target, call.stream)
  let isSettled = false

  return {
    settled(result) {
      isSettled = true
      if (result.kind === 'success') {
        const { kind, head } = result.answer
        if (kind === 'stream') trial.begun()
        else trial.answered()
        running.answeredAfter(clock.now() - begun.at)
        return report.attempted(route, begun, { outcome: 'answered', status: head.status })
      }
      const { failure, head, blank } = result
      if (failure.class === 'internal') {
        trial.dropped()
        observer.onError(failure.cause)
      } else if (!blank) trial.failed(failure)
      const { class: outcome, message, upstreamStatus = failure.status } = failure
      const status = outcome === 'content' ? head?.status || 200 : upstreamStatus
      report.attempted(route, begun, { outcome, status, message })
    },
    cancelled({ status }) {
      trial.dropped()
      report.attempted(route, begun, { outcome: 'cancelled', status })
    },
    outrun() {
      running.ended()
      trial.dropped()
      if (isSettled) return // it has come to its end at the same moment
      running.answeredAfter(clock.now() - begun.at) // at least, or slow answers would count less the more of them there are
      report.attempted(route, begun, { outcome: 'outrun', status: 499 })
    },
    ended: running.ended,
  }
}
