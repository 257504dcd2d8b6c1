import type { UpstreamCall } from '../lib/exchange.ts'
import { type AttemptResult, hasEvents } from './attempt.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import type { Abandonable } from './prepare-call.ts'
import { redact } from './redact.ts'
import { secretsOf } from './secrets.ts'
import type { Answered, FailedTry, Success } from './try.ts'

/** The attempt that has come to such an outcome. */
export interface OddAttempt {
  request: ModelRequest
  candidate: Candidate
  upstream: UpstreamCall
  attempt: Abandonable & { success(answered: Answered): Success }
}

/**
 * The outcome of a failed attempt, its secrets taken out, and of an answer that is whole where a stream was asked for, or the other way
 * round. Rejects when the attempt is cancelled meanwhile, and with what makes the answer unreadable.
 */
export async function oddOutcome(
  result: AttemptResult,
  { request, candidate: { route, transform: asked }, upstream, attempt }: OddAttempt,
): Promise<Success | FailedTry> {
  const { target } = route
  const { stream } = request.call
  let transform = asked
  if (!stream && asked.isVerbatim && hasEvents(result))
    transform = await (await import('./gathered.ts')).gathered(request, { target, transform })
  if (stream && result.kind === 'whole')
    transform = await (await import('./whole-as-stream.ts')).wholeAsStream(request, { target, transform })
  if (result.kind !== 'failure') return attempt.success({ answer: result, transform, upstream })
  const known = await attempt.unlessAbandoned(request.context.knownKeys.list())
  const secrets = [...secretsOf(upstream), ...known]
  const failed = transform.failed(redact(result, { provider: target.provider, secrets }))
  const { blank } = failed
  return blank ? { ...failed, kept: attempt.success({ answer: blank, transform, upstream, isUnread: true }) } : failed
}
