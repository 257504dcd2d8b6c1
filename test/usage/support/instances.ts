import { startDeadline } from '../../../src/lib/deadline.ts'
import type { Storage } from '../../../src/types.ts'
import { type KeptRequest, requestIdAt } from '../../../src/usage/kept/record.ts'
import { type KeptUsage, keepUsage } from '../../../src/usage/kept/usage.ts'
import type { FakeClock } from '../../support/clock.ts'

/** A gateway's part that keeps usage, alone. */
export function openInstance(
  storage: Storage,
  clock: FakeClock,
  days?: { requests: number; totals: number },
): KeptUsage {
  return keepUsage({
    storage,
    clock,
    logger: { warn() {}, error() {} },
    freshness: { onChange: (listener) => void storage.watch?.(listener) },
    settings: async () => (days ? { usage: { keepRequestsDays: days.requests, keepTotalsDays: days.totals } } : {}),
    startTimer: (ms, onTime) => startDeadline(clock, ms, onTime),
    onError() {},
  })
}

/** A store without keys and groups. */
export const noNames = { keys: { all: async () => [] }, groups: { all: async () => [] } }

/** A request that came at `at` (epoch ms), answered by one target for as many nano-dollars as it has tokens of input. */
export function requestAt(at: number, given: Partial<KeptRequest> & { input?: number } = {}): KeptRequest {
  const { input = 1, ...others } = given
  const target = { provider: 'one', model: 'm', connectionId: 'c1' }
  const tokens = { input, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const spent = { tokens, costUsd: input / 1e9, costSource: 'counted' } as const
  return {
    id: requestIdAt(at, crypto.randomUUID()),
    time: new Date(at).toISOString(),
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
