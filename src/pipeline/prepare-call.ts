import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { upstreamCall } from '../upstream/request.ts'
import type { FailedAttempt } from './attempt.ts'
import type { Candidate } from './candidate.ts'
import { failureOfError, unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'

/** An attempt that may be cancelled while its call is prepared. */
export interface Abandonable {
  /** The result of the work; rejects when the attempt is cancelled first. */
  unlessAbandoned<T>(work: Promise<T>): Promise<T>
}

/**
 * The call of a candidate with its credential, signed where a cloud wants that. A credential that cannot be decrypted is a failure of the
 * connection.
 */
export function prepareCall(
  request: ModelRequest,
  candidate: Candidate,
  attempt: Abandonable,
): Awaitable<UpstreamCall | FailedAttempt> {
  const { target } = candidate.route
  const apiKey = request.context.apiKeyOf(target.connection)
  if (isPromise(apiKey) || target.cloud) return prepareSlowly(apiKey, { request, candidate, attempt })
  try {
    return upstreamCall(target, apiKey, candidate.transform.ask)
  } catch (thrown) {
    return failedBy(thrown)
  }
}

interface Preparing {
  request: ModelRequest
  candidate: Candidate
  attempt: Abandonable
}

/** The same where something has to be waited for. */
async function prepareSlowly(
  opening: Awaitable<string | undefined>,
  { request: { context, client }, candidate: { route, transform }, attempt }: Preparing,
): Promise<UpstreamCall | FailedAttempt> {
  const { target } = route
  const { cloud } = target
  let apiKey: string | undefined
  try {
    apiKey = isPromise(opening) ? await attempt.unlessAbandoned(opening) : opening
  } catch (thrown) {
    if (!client.gone) context.observer.onError(thrown)
    return { kind: 'failure', failure: unreadableCredential }
  }
  try {
    if (!cloud) return upstreamCall(target, apiKey, transform.ask)
    return await attempt.unlessAbandoned(
      context.cloudCall(transform.ask, { cloud, target, apiKey, fetch: context.fetch }),
    )
  } catch (thrown) {
    return failedBy(thrown)
  }
}

/** The failed attempt that an error stands for. */
export const failedBy = (thrown: unknown): FailedAttempt => ({ kind: 'failure', failure: failureOfError(thrown) })
