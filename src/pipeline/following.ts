import type { Exchange } from '../lib/exchange.ts'
import { type Background, isThenable } from '../lib/promises.ts'
import type {
  AttemptFollower,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  RequestFollower,
} from './observing.ts'
import type { RequestRecord } from './records.ts'

/** Starts what follows a request. Absent: nobody observes. `waitUntil`: keeps the platform running for what observers have begun. */
export type Follow = (request: ObservedRequest, waitUntil?: Exchange['waitUntil']) => RequestFollower
/**
 * Makes one follower of those of all observers. What one of them throws or rejects with goes to `onError`; the others, and the request, go on.
 * Promises that they return are waited for by `background`.
 */
export function createFollow(
  observers: readonly GatewayObserver[],
  { background, onError }: { background: Background; onError: (error: unknown) => void },
): Follow | undefined {
  if (observers.length === 0) return undefined

  return (request, waitUntil) => new Followers(observers, request, { background, onError, waitUntil })
}

interface FollowTerms {
  background: Background
  onError(error: unknown): void
  waitUntil: Exchange['waitUntil']
}

/** What follows one request. */
class Followers implements RequestFollower {
  readonly #terms: FollowTerms
  readonly #all: RequestFollower[] = []

  constructor(observers: readonly GatewayObserver[], request: ObservedRequest, terms: FollowTerms) {
    this.#terms = terms
    for (const one of observers) {
      const follower = tried(terms, () => one.request?.(request))
      if (follower) this.#all.push(follower)
    }
  }

  asked(asked: AskedModel): void {
    for (const one of this.#all) tried(this.#terms, () => one.asked?.(asked))
  }

  attempt(attempt: ObservedAttempt): AttemptFollower {
    const terms = this.#terms
    const all: AttemptFollower[] = []
    for (const one of this.#all) {
      const follower = tried(terms, () => one.attempt?.(attempt))
      if (follower) all.push(follower)
    }
    return {
      headers() {
        let sent: Record<string, string> | undefined
        for (const one of all) {
          const headers = tried(terms, () => one.headers?.())
          if (headers) sent = { ...sent, ...tried(terms, () => sendable(headers)) }
        }
        return sent
      },
      begun(afterMs) {
        for (const one of all) tried(terms, () => one.begun?.(afterMs))
      },
      ended(record, end) {
        for (const one of all) tried(terms, () => one.ended?.(record, end))
      },
    }
  }

  ended(record: RequestRecord): void {
    for (const one of this.#all) tried(this.#terms, () => one.ended?.(record))
  }
}

type AskedModel = Parameters<NonNullable<RequestFollower['asked']>>[0]

/** What an observer returns; `undefined` where it throws, or returns a promise. */
function tried<T>({ background, onError, waitUntil }: FollowTerms, call: () => T): T | undefined {
  try {
    const result = call()
    if (!isThenable(result)) return result
    background.run(Promise.resolve(result), waitUntil)
  } catch (error) {
    onError(error)
  }
  return undefined
}

/** Those of the headers that a request can carry: any other would make the call fail. */
const sendable = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        /^[\w-]+$/.test(entry[0]) && typeof entry[1] === 'string' && /^[\t\x20-\x7e]*$/.test(entry[1]),
    ),
  )
