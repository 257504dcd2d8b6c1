import type { AttemptFollower, GatewayObserver, ObservedRequest, RequestFollower } from './observing.ts'

/** Starts what follows a request. Absent: nobody observes. */
export type Follow = (request: ObservedRequest) => RequestFollower

/** Makes one follower of those of all observers. What one of them throws goes to `onError`, and it follows that request no more. */
export function createFollow(
  observers: readonly GatewayObserver[],
  onError: (error: unknown) => void,
): Follow | undefined {
  if (observers.length === 0) return undefined

  function tried<T>(call: () => T): T | undefined {
    try {
      return call()
    } catch (error) {
      onError(error)
      return undefined
    }
  }

  function attemptFollowers(followers: readonly RequestFollower[], attempt: Parameters<Attempted>[0]): AttemptFollower {
    const own = followers.flatMap((one) => tried(() => one.attempt?.(attempt)) ?? [])
    return {
      headers: () => Object.assign({}, ...own.map((one) => tried(() => one.headers?.()))),
      begun: (afterMs) => own.forEach((one) => void tried(() => one.begun?.(afterMs))),
      ended: (record, end) => own.forEach((one) => void tried(() => one.ended?.(record, end))),
    }
  }

  return (request) => {
    const followers = observers.flatMap((one) => tried(() => one.request?.(request)) ?? [])
    return {
      asked: (asked) => followers.forEach((one) => void tried(() => one.asked?.(asked))),
      attempt: (attempt) => attemptFollowers(followers, attempt),
      ended: (record) => followers.forEach((one) => void tried(() => one.ended?.(record))),
    }
  }
}

type Attempted = NonNullable<RequestFollower['attempt']>
