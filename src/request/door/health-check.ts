import { gatewayError } from '../../errors.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { VERSION } from '../../lib/version.ts'
import type { SettingsStore } from '../../records/stored-settings.ts'
import type { Clock } from '../../types.ts'
import { createEmptyReply, createJsonReply } from './reply.ts'

/** Responds to a request for `/health`. Never rejects. */
export type HealthResponder = (exchange: Exchange) => Promise<Reply>

/** The dependencies of the health check. */
interface HealthCheckDependencies {
  settings: Pick<SettingsStore, 'reread'>
  clock: Clock
  isClosed(): boolean
  onError(error: unknown): void
}

/** Minimum time between reads of the storage, in ms, because anyone can call `/health` without a credential. */
const MAX_AGE_MS = 1_000

/** Timeout for a read, in ms. A slower store is treated as unreadable, so that the response arrives before a load balancer gives up. */
const READ_TIMEOUT_MS = 2_000

/**
 * Creates the `/health` handler: 200 with `status` "ok" and the version, or 503 with "closing" or "store unreadable". It calls no provider and sends
 * no CORS headers. `onError` is called once with the reason when the storage becomes unreadable.
 */
export function createHealthCheck({ settings, clock, isClosed, onError }: HealthCheckDependencies): HealthResponder {
  let lastRead: { readAt: number; isReadable: Promise<boolean> } | undefined
  let wasReadable = true

  async function readStorage(): Promise<boolean> {
    let failure: unknown = gatewayError('STORAGE_FAILED', {
      message: `The storage did not respond within ${READ_TIMEOUT_MS} ms.`,
    })
    const reading = settings.reread().then(
      () => {
        failure = undefined
      },
      (error: unknown) => {
        failure = error
      },
    )
    await settlesWithin(reading, READ_TIMEOUT_MS, clock)
    const isReadable = failure === undefined
    if (wasReadable && !isReadable) onError(failure)
    wasReadable = isReadable
    return isReadable
  }

  function checkStorage(): Promise<boolean> {
    const now = clock.now()
    if (!lastRead || Math.abs(now - lastRead.readAt) >= MAX_AGE_MS)
      lastRead = { readAt: now, isReadable: readStorage() }
    return lastRead.isReadable
  }

  return async ({ method }) => {
    if (method === 'OPTIONS') return createEmptyReply(ALLOW_HEADERS)
    if (method !== 'GET' && method !== 'HEAD')
      return createJsonReply(405, { error: `${method} is not allowed here. Allowed: GET, HEAD.` }, ALLOW_HEADERS)
    if (isClosed()) return createHealthReply('closing')
    const status = (await checkStorage()) ? 'ok' : 'store unreadable'
    return createHealthReply(isClosed() ? 'closing' : status)
  }
}

const ALLOW_HEADERS = { allow: 'GET, HEAD, OPTIONS' }

const createHealthReply = (status: 'ok' | 'closing' | 'store unreadable') =>
  createJsonReply(status === 'ok' ? 200 : 503, { status, version: VERSION })
