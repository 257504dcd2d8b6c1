import { gatewayError } from '../errors.ts'
import { runWithDeadline } from '../lib/deadline.ts'
import type { Clock } from '../types.ts'

/** Options for calling your routing functions. */
export interface DeciderOptions {
  clock: Clock
  /** Whether errors are ignored. If so, the request is routed without the failed function. */
  ignoresErrors: boolean
  /** Called with each failure. */
  onError(error: unknown): void
}

const FAILED_MESSAGE = 'The gateway could not choose a model. Retry in a moment.'

/** How long a function may take, in ms. */
const DECIDER_TIMEOUT_MS = 1_000

/**
 * Calls one of your routing functions. `name` identifies it in messages. If it fails or takes more than a second, rejects with `ROUTE_FAILED`, or
 * resolves to `undefined` if errors are ignored. If `signal` aborts, rejects with its reason.
 */
export async function callDecider<T>(
  call: (signal: AbortSignal) => Promise<T>,
  options: DeciderOptions & { name: string; model: string; signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  const { name, model, signal, clock, ignoresErrors, onError } = options
  try {
    return await runWithDeadline(call, {
      clock,
      ms: DECIDER_TIMEOUT_MS,
      createError: () => new Error(`It took longer than ${DECIDER_TIMEOUT_MS} ms.`),
      ...(signal && { signal }),
    })
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `${name} failed for a request for the model "${model}": ${reason}`
    onError(gatewayError('ROUTE_FAILED', { message, cause, data: { model } }))
    if (ignoresErrors) return undefined
    throw gatewayError('ROUTE_FAILED', { message: FAILED_MESSAGE, headers: { 'retry-after': '1' } })
  }
}
