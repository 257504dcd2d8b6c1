import { type Background, isThenable } from '../lib/promises.ts'
import type { GatewayObserver, ObservedRequest, RequestFollower } from './observing.ts'

/** Starts what follows a request. Absent: nobody observes. `waitUntil`: keeps the platform running for what observers have begun. */
export type Follow = (request: ObservedRequest, waitUntil?: (work: Promise<unknown>) => void) => RequestFollower

/**
 * Makes one follower of those of all observers. What one of them throws or rejects with goes to `onError`; the others, and the request, go on.
 * Promises that they return are waited for by `background`.
 */
export function createFollow(
  observers: readonly GatewayObserver[],
  { background, onError }: { background: Background; onError: (error: unknown) => void },
): Follow | undefined {
  if (observers.length === 0) return undefined

  return (request, waitUntil) => {
    function tried<T>(call: () => T): T | undefined {
      try {
        const result = call()
        if (!isThenable(result)) return result
        background.run(Promise.resolve(result), waitUntil)
      } catch (error) {
        onError(error)
      }
      return undefined
    }

    const followers = observers.flatMap((one) => tried(() => one.request?.(request)) ?? [])
    return {
      asked: (asked) => followers.forEach((one) => void tried(() => one.asked?.(asked))),
      attempt(attempt) {
        const own = followers.flatMap((one) => tried(() => one.attempt?.(attempt)) ?? [])
        return {
          headers() {
            const given = own.map((one) => tried(() => one.headers?.()))
            return Object.assign({}, ...given.map((headers) => headers && tried(() => sendable(headers))))
          },
          begun: (afterMs) => own.forEach((one) => void tried(() => one.begun?.(afterMs))),
          ended: (record, end) => own.forEach((one) => void tried(() => one.ended?.(record, end))),
        }
      },
      ended: (record) => followers.forEach((one) => void tried(() => one.ended?.(record))),
    }
  }
}

/** Those of the headers that a request can carry: any other would make the call fail. */
const sendable = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        /^[\w-]+$/.test(entry[0]) && typeof entry[1] === 'string' && isFieldValue(entry[1]),
    ),
  )

const isFieldValue = (value: string) => /^[\t\x20-\x7e]*$/.test(value)
