import { isGatewayError } from '../../errors.ts'
import type { BuiltInFeature } from '../../feature.ts'
import { type Background, isThenable } from '../../lib/promises.ts'
import type { UsageRecord } from '../../pricing/usage-record.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import type { RequestLog } from '../../request/request-log.ts'
import type { Logger } from '../../types.ts'

/** Your functions for request events. Errors that a hook throws are logged and have no other effect. */
export interface Hooks {
  /** Called once when a request to a model endpoint ends, including rejected ones. A stream ends after its last byte. */
  onRequest?(request: RequestRecord): unknown
  /**
   * Called for each attempt when the provider responds or the attempt fails; for a stream, when the stream starts. The attempt's usage is not in this
   * record but in the request's record.
   */
  onAttempt?(attempt: AttemptRecord): unknown
  /** Called once for each successful model request, with its tokens and cost if known. */
  onUsage?(usage: UsageRecord): unknown
  /** Called for each internal error, which clients see only as "Internal server error", and for each error that the gateway tolerates. */
  onError?(error: unknown): unknown
}

/** Reports errors to your logger and to the `onError` hook. Never throws. */
export type ReportError = (error: unknown) => void

/** Creates the function that reports errors. `background` awaits promises that the hook returns. */
export function createReportError(hooks: Hooks, logger: Logger, background: Background): ReportError {
  return (error) => {
    logSafely(logger, describeError(error))
    callHook(() => hooks.onError?.(error), { logger, background })
  }
}

interface HookDependencies {
  hooks: Hooks
  logger: Logger
  background: Background
}

/** Calls your hooks for request events. The code loads only if there are any hooks. */
export function createHooksFeature({ hooks, logger, background }: HookDependencies): BuiltInFeature {
  const { onRequest, onAttempt, onUsage } = hooks
  if (!(onRequest ?? onAttempt ?? onUsage)) return { name: 'hooks' }
  return {
    name: 'hooks',
    async loadEvents() {
      const { createHookListener } = await import('./request-hooks.ts')
      return createHookListener(hooks, (hook, { waitUntil }) => callHook(hook, { logger, background, waitUntil }))
    },
  }
}

interface HookOptions {
  logger: Logger
  background: Background
  waitUntil?: RequestLog['waitUntil']
}

/** Calls a hook. Failures are only logged, because `onError` may be the hook that failed. */
function callHook(hook: () => unknown, { logger, background, waitUntil }: HookOptions): void {
  const logFailure = (error: unknown) => logSafely(logger, 'A hook failed.', { error: describeError(error) })
  try {
    const result = hook()
    if (isThenable(result)) background.run(Promise.resolve(result).catch(logFailure), waitUntil)
  } catch (error) {
    logFailure(error)
  }
}

function logSafely(logger: Logger, ...line: Parameters<Logger['error']>): void {
  try {
    logger.error(...line)
  } catch {} // the logger itself failed, so there is nowhere to report this
}

/**
 * Returns the name, message, and causes of an error for a log line, without stacks or attached data. Omits errors thrown by credential functions,
 * because they may contain the credential.
 */
function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error)
  const name = isGatewayError(error) ? error.code : error.name
  const isHidden = error.cause === undefined || depth > 3 || name === 'UPSTREAM_CREDENTIALS'
  const cause = isHidden ? '' : ` (caused by ${describeError(error.cause, depth + 1)})`
  return `${name}: ${error.message || String(Reflect.get(error, 'code') ?? '')}${cause}` // an `AggregateError` for several addresses may have only a code
}
