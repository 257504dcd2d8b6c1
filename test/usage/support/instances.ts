import type { StoredRequest } from '../../../src/features/usage/request-record.ts'
import { createUsageStore, type UsageStore } from '../../../src/features/usage/usage.ts'
import { startDeadline } from '../../../src/lib/deadline.ts'
import { createRequestId } from '../../../src/lib/request-id.ts'
import type { AccountNames } from '../../../src/records/account-records.ts'
import type { Logger, Storage } from '../../../src/types.ts'
import type { FakeClock } from '../../support/clock.ts'

/** Opens only the usage store of a gateway. */
export function openInstance(
  storage: Storage,
  clock: FakeClock,
  days?: { requests: number; totals: number },
  logger: Logger = { warn() {}, error() {} },
  onError: (error: unknown) => void = () => {},
): UsageStore {
  return createUsageStore({
    storage,
    clock,
    logger,
    freshness: { onChange: (listener) => void storage.watch?.(listener) },
    readSettings: async () => (days ? { usage: { keepRequestsDays: days.requests, keepTotalsDays: days.totals } } : {}),
    startTimer: (ms, onTime) => startDeadline(clock, ms, onTime),
    nextTurn: async () => {},
    onError,
  })
}

/** A record store without keys and groups. */
export const noNames = { keys: { all: async () => [] }, groups: { all: async () => [] } }

export const noAccounts: AccountNames = { findRef: async (idOrRef) => idOrRef, findNames: async () => new Map() }

/** Creates a request that arrived at `at` (ms since the epoch), with one target and a cost in nano-dollars equal to its input tokens. */
export function getRequest(index: number, value: Partial<StoredRequest> & { input?: number } = {}): StoredRequest {
  const { input = 1, ...others } = value
  const target = { provider: 'one', model: 'm', connectionId: 'c1' }
  const tokens = { input, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const spent = { tokens, costUsd: input / 1e9, costSource: 'counted' } as const
  return {
    id: createRequestId(index, crypto.randomUUID()),
    time: new Date(index).toISOString(),
    keyId: 'k1',
    endpoint: '/v1/chat/completions',
    format: 'openai-chat',
    model: 'one/m',
    target,
    streamed: false,
    attempts: [{ ...target, outcome: 'answered', status: 200, startMs: 0, durationMs: 5, ...spent }],
    ...spent,
    durationMs: 5,
    status: 200,
    end: 'complete',
    ...others,
  }
}
