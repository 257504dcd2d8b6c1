import { type GatewayError, gatewayError } from '../errors.ts'
import type { Reply, UpstreamAnswer } from '../lib/exchange.ts'
import { replyHeaders } from '../upstream/headers.ts'
import type { Failure } from './failure.ts'
import { type AttemptRecord, journeyHeaders } from './journey.ts'

/** The provider's own error, unchanged: the answer when there was nothing to choose from. */
export function passedOn(failure: Failure, head: UpstreamAnswer | undefined): Reply | undefined {
  if (!failure.body || !head) return undefined
  return { status: failure.status, headers: replyHeaders(head, 'application/json'), body: failure.body }
}

/** The error when no attempt has brought an answer: what each one said, the smallest useful `retry-after`, and no invitation to retry. */
export function exhausted(failures: readonly Failure[], attempts: readonly AttemptRecord[]): GatewayError {
  const [only] = failures
  const code = failures.every((failure) => failure.class === 'timeout') ? 'UPSTREAM_TIMEOUT' : 'UPSTREAM_FAILED'
  const status = commonStatus(failures)
  const headers = journeyHeaders(attempts)
  if (failures.length > 1 || only?.class === 'credentials') headers['x-should-retry'] = 'false'
  const waits = failures.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  if (waits.length > 0) headers['retry-after'] = String(Math.min(60, Math.ceil(Math.min(...waits) / 1000)))
  const message =
    failures.length === 1 && only
      ? only.message
      : `None of the ${failures.length} targets answered. ${attempts.map(said).join(' ')}`
  return gatewayError(code, { status, message, headers })
}

/** The one status that all attempts share; a mixture is a bad gateway. */
function commonStatus(failures: readonly Failure[]): number {
  const [first, ...rest] = failures.map((failure) => failure.status)
  return first !== undefined && rest.every((status) => status === first) ? first : 502
}

const said = ({ provider, model, message }: AttemptRecord) => `${provider}/${model}: ${message?.slice(0, 300)}`
