import { isGatewayError } from '../errors.ts'
import { type Background, isThenable } from '../lib/promises.ts'
import type { Logger } from '../types.ts'
import type { UsageRecord } from '../usage/record.ts'
import type { AttemptRecord, RequestRecord } from './records.ts'

/** Functions of the host that are called with events of requests. What they throw or reject with is logged, and has no other effect. */
export interface Hooks {
  /**
   * Called once for each request to a model endpoint when it is over, a refused one too: for a stream, when its last byte has been sent. Its
   * record says what became of it.
   */
  onRequest?(request: RequestRecord): unknown
  /**
   * Called for each attempt, a call to a provider or one that failed before it was sent, when it has answered or failed: for a stream, when it
   * has begun. Its usage is in the record of the request.
   */
  onAttempt?(attempt: AttemptRecord): unknown
  /** Called once for each answered model request, with its tokens and cost as far as they are known. */
  onUsage?(usage: UsageRecord): unknown
  /**
   * Called with each internal error, of which clients read only "Internal server error", and with each error that the gateway tolerates.
   */
  onError?(error: unknown): unknown
}

/** Passes events on to the host's hooks and logger. Its methods never throw, and call `record` only if there is a hook for it. */
export interface Observer {
  onRequest(record: () => RequestRecord, waitUntil?: WaitUntil): void
  onAttempt(record: () => AttemptRecord, waitUntil?: WaitUntil): void
  onUsage(record: () => UsageRecord, waitUntil?: WaitUntil): void
  onError(error: unknown): void
}

type WaitUntil = (work: Promise<unknown>) => void

/** Promises that hooks return are waited for by `background`. */
export function createObserver(hooks: Hooks, logger: Logger, background: Background): Observer {
  const calling = <R>(hook: ((record: R) => unknown) | undefined) => {
    const bound = hook?.bind(hooks)
    return (record: () => R, waitUntil?: WaitUntil) => {
      if (bound) call(bound, record, waitUntil)
    }
  }

  function call<R>(hook: (record: R) => unknown, record: () => R, waitUntil?: WaitUntil) {
    try {
      const result = hook(record())
      if (isThenable(result)) background.run(Promise.resolve(result).catch(hookFailed), waitUntil)
    } catch (error) {
      hookFailed(error)
    }
  }

  /** Only logged, not passed to `onError`: that hook may be the one that failed. */
  function hookFailed(error: unknown) {
    log('A hook of the host failed.', { error: describe(error) })
  }

  function log(...line: Parameters<Logger['error']>) {
    try {
      logger.error(...line)
    } catch {} // there is no logger for the error of a logger
  }

  const onError = calling(hooks.onError)
  return {
    onRequest: calling(hooks.onRequest),
    onAttempt: calling(hooks.onAttempt),
    onUsage: calling(hooks.onUsage),
    onError(error) {
      log(describe(error))
      onError(() => error)
    },
  }
}

/** Name, message and causes of an error: enough for a log line, without stacks or attached data. */
function describe(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error)
  const name = isGatewayError(error) ? error.code : error.name
  const cause = error.cause === undefined || depth > 3 ? '' : ` (caused by ${describe(error.cause, depth + 1)})`
  return `${name}: ${error.message || String(Reflect.get(error, 'code') ?? '')}${cause}` // one of several addresses has only a code
}
