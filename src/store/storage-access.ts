import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { Clock, Storage } from '../types.ts'

/** The time after which an operation without an answer has failed, in ms. */
const ANSWER_TIMEOUT_MS = 5_000

/**
 * The same after an operation has failed in that way, until the storage answers again: a change by an administrator takes several operations,
 * and each would wait for the whole time.
 */
const HANGING_TIMEOUT_MS = 250

/** How long a request waits for newer data while older data is in memory, in ms. */
const PATIENCE_MS = 300

/** How long a request waits for newer data if another writer has certainly changed it, in ms. */
const LONG_PATIENCE_MS = 1_000

/** The time after which a storage that was away is asked again, and one that was slow is waited for again, in ms. */
export const RETRY_AFTER_MS = 1_000

/** Codes of adapters and of Node for a storage that cannot be reached; what it holds may be whole. */
const UNREACHABLE =
  /^(?:STORAGE_UNREACHABLE|STORAGE_LOCKED|E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH))$/

/** Codes of adapters for data that cannot be read: what was read before does not stand in for it. */
const UNREADABLE = /^STORAGE_(?:CORRUPT|MISSING|NEWER_VERSION|SECRET_INVALID|SECRET_MISSING)$/

/**
 * What handles the rejection of a storage, which never counts as an empty one, as that would let in clients without a key: it throws
 * `STORAGE_UNAVAILABLE` when the storage cannot be reached, or has no room for a write, otherwise `STORAGE_FAILED`.
 */
export const failedTo =
  (what: 'read' | 'write' | 'list', key: string) =>
  (cause: unknown): never => {
    throw storageFailure(what, key, cause)
  }

function storageFailure(what: 'read' | 'write' | 'list', key: string, cause: unknown): GatewayError {
  if (isGatewayError(cause)) return cause
  const isUnreachable = UNREACHABLE.test(codeOf(cause)) || (what === 'write' && codeOf(cause) === 'STORAGE_UNWRITABLE')
  const reason = networkCode(cause)
  return gatewayError(isUnreachable ? 'STORAGE_UNAVAILABLE' : 'STORAGE_FAILED', {
    message: `The gateway cannot ${what} its storage${reason && ` (${reason})`}.`,
    cause,
    data: { what, key, isAway: isUnreachable || !UNREADABLE.test(codeOf(cause)) },
  })
}

/**
 * The code of the network's failure behind an error, such as `ECONNREFUSED`, or nothing. Clients read it too: the rest of what a driver says may
 * name machines and users.
 */
function networkCode(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return ''
  const [code] = NETWORK.exec(`${codeOf(error)} ${error.message}`) ?? []
  const causes = [error.cause, ...(error instanceof AggregateError ? error.errors : [])]
  return code ?? causes.map((cause) => networkCode(cause, depth + 1)).find((found) => found !== '') ?? ''
}

const NETWORK = /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b/

const codeOf = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''

/** Did the storage itself fail, so that what was read from it before stays in force? */
export const isAway = (error: unknown): boolean =>
  isGatewayError(error) && (error.code === 'STORAGE_UNAVAILABLE' || error.data.isAway === true)

/** An operation that the storage itself gives up after this time counts as one without an answer, in ms. */
const SLOW_FAILURE_MS = 1_000

/**
 * The storage with a time-out: an operation without an answer rejects with `STORAGE_UNAVAILABLE` after five seconds, the next ones after 250 ms
 * until the storage answers again. A write that has timed out may have been made.
 */
export function timedStorage(storage: Storage, clock: Clock): Storage {
  let isHanging = false
  const within = <T>(work: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const startedAt = clock.now()
      const timeoutMs = isHanging ? HANGING_TIMEOUT_MS : ANSWER_TIMEOUT_MS
      const cancel = startDeadline(clock, timeoutMs, () => {
        isHanging = true
        reject(
          gatewayError('STORAGE_UNAVAILABLE', {
            message: `The storage of the gateway did not answer in ${timeoutMs} ms.`,
          }),
        )
      })
      const answered = (isFailure: boolean) => {
        isHanging = isFailure && (isHanging || clock.now() - startedAt > SLOW_FAILURE_MS)
        cancel()
      }
      work.then(
        (result) => {
          answered(false)
          resolve(result)
        },
        (error: unknown) => {
          answered(UNREACHABLE.test(codeOf(error)))
          reject(error)
        },
      )
    })
  const { increment, ownSecret } = storage
  return {
    ...storage,
    get: (...args) => within(storage.get(...args)),
    set: (...args) => within(storage.set(...args)),
    delete: (...args) => within(storage.delete(...args)),
    list: (...args) => within(storage.list(...args)),
    ...(increment && { increment: (...args: Parameters<typeof increment>) => within(increment(...args)) }),
    ...(ownSecret && { ownSecret: () => within(ownSecret()) }),
  }
}

/** A read under way of data that is in memory already. */
export interface Rereading<T> {
  work: Promise<T>
  /** Epoch ms. */
  startedAt: number
  /** Has another writer changed it for certain? */
  isChanged?: boolean | undefined
}

/** How long requests wait for newer data of one storage while older data is in memory. */
export interface Patience {
  /**
   * The data that is read again, or `before` when the storage is away or the read takes longer than `PATIENCE_MS`. Other callers get `before`
   * at once during the same read, and during every read in the second after that. Rejects with any other failure.
   */
  readOrKept<T>(rereading: Rereading<T>, before: T): Promise<T>
}

export function createPatience(clock: Clock): Patience {
  let impatientUntil = 0 // epoch ms

  return {
    readOrKept({ work, startedAt, isChanged = false }, before) {
      const left = startedAt + (isChanged ? LONG_PATIENCE_MS : PATIENCE_MS) - clock.now()
      if (left <= 0 || (!isChanged && clock.now() < impatientUntil)) return Promise.resolve(before)
      return new Promise((resolve, reject) => {
        const cancel = startDeadline(clock, left, () => {
          impatientUntil = clock.now() + RETRY_AFTER_MS
          resolve(before)
        })
        work.finally(cancel).then(resolve, (error: unknown) => (isAway(error) ? resolve(before) : reject(error)))
      })
    },
  }
}

/** Enough for this many writers at once. */
const MAX_ATTEMPTS = 200

/**
 * Repeats `attempt` (read, change, conditional write) until it resolves to something other than `false`, which means that another writer
 * was faster. Rejects with `STORAGE_FAILED` after 200 attempts, as with a storage that does not show its own writes.
 */
export async function retryLostRace<T>(attempt: () => Promise<T | false>): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const done = await attempt()
    if (done !== false) return done
  }
  throw gatewayError('STORAGE_FAILED', {
    message: `A write to the storage lost the race against other writers ${MAX_ATTEMPTS} times in a row.`,
  })
}
