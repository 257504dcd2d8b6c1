import { gatewayError } from '../../errors.ts'
import type { Clock } from '../../types.ts'

/**
 * Creates a function that throws `TOO_MANY_NEW_ACCOUNTS` for an account that is new to the storage if this instance has already admitted
 * `newPerMinute` new accounts in the same minute. This prevents an app that identifies accounts by random strings, such as session IDs, from filling
 * the storage. `onError` gets the error at most once a minute.
 */
export function createNewAccountLimiter({
  clock,
  newPerMinute,
  onError,
}: {
  clock: Pick<Clock, 'now'>
  newPerMinute: number
  onError(error: unknown): void
}): (ref: string) => void {
  const admittedRefs = new Set<string>()
  let minute = 0
  let isReported = false

  return (ref) => {
    const currentMinute = Math.floor(clock.now() / 60_000)
    if (currentMinute !== minute) {
      minute = currentMinute
      isReported = false
      admittedRefs.clear()
    }
    if (admittedRefs.has(ref)) return
    if (admittedRefs.size < newPerMinute) return void admittedRefs.add(ref)
    const error = gatewayError('TOO_MANY_NEW_ACCOUNTS', {
      message: 'Too many new accounts. Retry in a minute.',
      headers: { 'retry-after': '60' },
      data: { newPerMinute },
    })
    if (!isReported) onError(error)
    isReported = true
    throw error
  }
}
