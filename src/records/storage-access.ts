import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { Clock, Storage } from '../types.ts'

/** An operation's timeout, in ms. */
const OPERATION_TIMEOUT_MS = 5_000

/** The timeout in ms once an operation has timed out, until the storage responds again. Otherwise, each of a change's operations would wait 5 s. */
const UNRESPONSIVE_TIMEOUT_MS = 250

/** How long a request waits for fresh data if stale data is in memory, in ms. */
const MAX_WAIT_MS = 300

/** How long a request waits if another writer is known to have changed the data, in ms. */
const MAX_WAIT_IF_CHANGED_MS = 1_000

/** How long to wait before trying again after the storage was unavailable or slow, in ms. */
export const RETRY_AFTER_MS = 1_000

/** Error codes that adapters and Node use for unreachable storage, whose data may be intact. */
const UNREACHABLE_PATTERN =
  /^(?:STORAGE_UNREACHABLE|STORAGE_LOCKED|E(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH))$/

/** Error codes that adapters use for unreadable data, which stale data must not replace. */
const UNREADABLE_PATTERN = /^STORAGE_(?:CORRUPT|MISSING|NEWER_VERSION|SECRET_INVALID|SECRET_MISSING)$/

/**
 * Returns a handler for a store's rejections. A failed read is never treated as an empty store, which would admit clients without a key. The handler
 * throws `STORAGE_UNAVAILABLE` if the storage can't be reached or has no room for a write, otherwise `STORAGE_FAILED`.
 */
export const handleStorageError =
  (operation: 'read' | 'write' | 'list', key: string) =>
  (cause: unknown): never => {
    throw toStorageError(operation, key, cause)
  }

function toStorageError(operation: 'read' | 'write' | 'list', key: string, cause: unknown): GatewayError {
  if (isGatewayError(cause)) return cause
  const isUnreachable =
    UNREACHABLE_PATTERN.test(getErrorCode(cause)) ||
    (operation === 'write' && getErrorCode(cause) === 'STORAGE_UNWRITABLE')
  const reason = findNetworkCode(cause)
  return gatewayError(isUnreachable ? 'STORAGE_UNAVAILABLE' : 'STORAGE_FAILED', {
    message: `The gateway cannot ${operation} its storage${reason && ` (${reason})`}.${isUnreachable ? ' Retry in a moment.' : ''}`,
    cause,
    data: { what: operation, key, isAway: isUnreachable || !UNREADABLE_PATTERN.test(getErrorCode(cause)) },
  })
}

/**
 * Returns the code of an error's underlying network error, such as `ECONNREFUSED`, or an empty string. Clients see the code but not the driver's
 * message, which could reveal machine and user names.
 */
function findNetworkCode(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 4) return ''
  const [code] = NETWORK_PATTERN.exec(`${getErrorCode(error)} ${error.message}`) ?? []
  const causes = [error.cause, ...(error instanceof AggregateError ? error.errors : [])]
  return code ?? causes.map((cause) => findNetworkCode(cause, depth + 1)).find((causeCode) => causeCode !== '') ?? ''
}

const NETWORK_PATTERN = /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b/

const getErrorCode = (cause: unknown) =>
  typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''

/** Returns whether the storage itself failed, in which case stale data may be used. */
export const isStorageUnavailable = (error: unknown): boolean =>
  isGatewayError(error) && (error.code === 'STORAGE_UNAVAILABLE' || error.data.isAway === true)

/** A failure that takes longer than this is treated as a timeout, in ms. */
const SLOW_FAILURE_MS = 1_000

/**
 * Adds timeouts to a store. An operation rejects with `STORAGE_UNAVAILABLE` after 5 s; the next ones reject after 250 ms until the storage responds
 * again. A write that timed out may have succeeded.
 */
export function withTimeouts(storage: Storage, clock: Clock): Storage {
  let isUnresponsive = false
  const withTimeout = <T>(work: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      const startedAt = clock.now()
      const timeoutMs = isUnresponsive ? UNRESPONSIVE_TIMEOUT_MS : OPERATION_TIMEOUT_MS
      const cancelDeadline = startDeadline(clock, timeoutMs, () => {
        isUnresponsive = true
        reject(
          gatewayError('STORAGE_UNAVAILABLE', {
            message: `The gateway's storage did not respond within ${timeoutMs} ms. Retry in a moment.`,
          }),
        )
      })
      const finish = (isFailure: boolean) => {
        isUnresponsive = isFailure && (isUnresponsive || clock.now() - startedAt > SLOW_FAILURE_MS)
        cancelDeadline()
      }
      work.then(
        (result) => {
          finish(false)
          resolve(result)
        },
        (error: unknown) => {
          finish(UNREACHABLE_PATTERN.test(getErrorCode(error)))
          reject(error)
        },
      )
    })
  const { increment, ownSecret } = storage
  return {
    ...storage,
    get: (...args) => withTimeout(storage.get(...args)),
    set: (...args) => withTimeout(storage.set(...args)),
    delete: (...args) => withTimeout(storage.delete(...args)),
    list: (...args) => withTimeout(storage.list(...args)),
    ...(increment && { increment: (...args: Parameters<typeof increment>) => withTimeout(increment(...args)) }),
    ...(ownSecret && { ownSecret: () => withTimeout(ownSecret()) }),
  }
}

/** A pending read of data that is already in memory. */
export interface PendingRead<T> {
  work: Promise<T>
  /** Epoch ms. */
  startedAt: number
  /** Whether another writer is known to have changed the data. */
  isChanged?: boolean | undefined
}

/** Limits how long requests wait for fresh data while stale data is in memory. */
export interface StaleFallback {
  /**
   * Waits for the read. Returns `staleValue` if the storage is unavailable or the read takes longer than `MAX_WAIT_MS`; for one second after that,
   * all callers get `staleValue` immediately. Rejects with any other failure.
   */
  readOrUseStale<T>(pending: PendingRead<T>, staleValue: T): Promise<T>
}

export function createStaleFallback(clock: Clock): StaleFallback {
  let useStaleUntil = 0 // epoch ms until which callers get `staleValue` immediately

  return {
    readOrUseStale({ work, startedAt, isChanged = false }, staleValue) {
      const remainingMs = startedAt + (isChanged ? MAX_WAIT_IF_CHANGED_MS : MAX_WAIT_MS) - clock.now()
      if (remainingMs <= 0 || (!isChanged && clock.now() < useStaleUntil)) return Promise.resolve(staleValue)
      return new Promise((resolve, reject) => {
        const cancelDeadline = startDeadline(clock, remainingMs, () => {
          useStaleUntil = clock.now() + RETRY_AFTER_MS
          resolve(staleValue)
        })
        work
          .finally(cancelDeadline)
          .then(resolve, (error: unknown) => (isStorageUnavailable(error) ? resolve(staleValue) : reject(error)))
      })
    },
  }
}

/** Maximum attempts; enough for this many concurrent writers. */
const MAX_ATTEMPTS = 200

/**
 * Repeats `attempt` (read, change, conditional write) while it resolves to `false`, which means that another write came first. Rejects with
 * `STORAGE_FAILED` after 200 attempts, which happens if a store doesn't return its own writes.
 */
export async function retryOnConflict<T>(attempt: () => Promise<T | false>): Promise<T> {
  for (let attemptCount = 0; attemptCount < MAX_ATTEMPTS; attemptCount++) {
    const result = await attempt()
    if (result !== false) return result
  }
  throw gatewayError('STORAGE_FAILED', {
    message: `A write to the storage conflicted with other writers ${MAX_ATTEMPTS} times in a row.`,
  })
}
