import { type GatewayError, gatewayError } from '../errors.ts'
import type { Reply } from '../lib/exchange.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import { replyHeaders } from '../upstream/headers.ts'
import type { FailedAttempt } from './attempt.ts'
import type { Failure } from './failure.ts'
import { type AttemptRecord, journeyHeaders, type Step } from './journey.ts'

/**
 * The answer when no attempt has brought one: the provider's own error, unchanged, when there was but one attempt or the client is at
 * fault. Otherwise, or when the provider sent no JSON, throws an error that tells of each attempt. `isSpent`: the retry budget was.
 */
export function finalReply(
  failed: readonly FailedAttempt[],
  { attempts, steps, isSpent }: { attempts: readonly AttemptRecord[]; steps: readonly Step[]; isSpent: boolean },
): Reply {
  const decisive = failed.length === 1 ? failed[0] : failed.findLast(({ failure }) => isOfClient(failure))
  const headers = journeyHeaders(steps)
  if (isSpent) headers['x-should-retry'] = 'false'
  if (decisive?.head && decisive.failure.body) {
    const { status, body, headers: own } = decisive.failure
    const said = own ? { 'content-type': 'application/json', ...own } : replyHeaders(decisive.head, 'application/json')
    return { status, headers: { ...said, ...headers }, body }
  }
  throw exhausted(decisive ? [decisive.failure] : failed.map(({ failure }) => failure), { attempts, headers })
}

/** What only the client can mend. */
const isOfClient = (failure: Failure) => failure.class === 'client' || failure.class === 'context-overflow'

/** What each attempt said, the smallest useful `retry-after`, and no invitation to retry. */
function exhausted(
  failures: readonly Failure[],
  { attempts, headers }: { attempts: readonly AttemptRecord[]; headers: Record<string, string> },
): GatewayError {
  const [only] = failures
  const are = (what: FailureClass) => failures.every((failure) => failure.class === what)
  const code = are('timeout') ? 'UPSTREAM_TIMEOUT' : are('context-overflow') ? 'CONTEXT_OVERFLOW' : 'UPSTREAM_FAILED'
  const status = commonStatus(failures)
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
