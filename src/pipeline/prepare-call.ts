import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { upstreamCall } from '../upstream/request.ts'
import type { FailedAttempt } from './attempt.ts'
import type { Candidate } from './candidate.ts'
import { failureOfError, unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'

/** The result of the work; rejects when the attempt is cancelled first. */
export type Abandonable = <T>(work: Promise<T>) => Promise<T>

/**
 * The call of a candidate with its credential, signed where a cloud wants that. A credential that cannot be decrypted is a failure of the
 * connection.
 */
export function prepareCall(
  { context, client }: ModelRequest,
  { route: { target }, transform: { ask } }: Candidate,
  abandonable: Abandonable,
): Awaitable<UpstreamCall | FailedAttempt> {
  const { cloud } = target

  function withKey(apiKey: string | undefined): Awaitable<UpstreamCall | FailedAttempt> {
    try {
      if (!cloud) return upstreamCall(target, apiKey, ask)
      const made = context.cloudCall(ask, { cloud, target, apiKey, fetch: context.fetch })
      return abandonable(made).catch(failedBy)
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  const apiKey = context.apiKeyOf(target.connection)
  if (!isPromise(apiKey)) return withKey(apiKey)
  return abandonable(apiKey).then(withKey, (thrown: unknown): FailedAttempt => {
    if (!client.gone) context.observer.onError(thrown)
    return { kind: 'failure', failure: unreadableCredential }
  })
}

/** The failed attempt that an error stands for. */
export const failedBy = (thrown: unknown): FailedAttempt => ({ kind: 'failure', failure: failureOfError(thrown) })
