import type { StoredAttempt, StoredRequest } from '../../src/features/usage/request-record.ts'
import { decodeRequests, encodeRequests } from '../../src/features/usage/usage-codec.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('usage records in storage')

const target = { provider: 'openai', model: 'gpt-5', connectionId: 'c' }
const tokens = {
  ...{ input: 10, output: 5, cacheRead: 1, cacheWrite: 2, reasoning: 3 },
  ...{ cacheWriteLong: 1, inputImage: 2, outputImage: 3, inputAudio: 4, outputAudio: 5 },
}
const attempt: Required<StoredAttempt> = {
  ...target,
  ...{ outcome: 'answered', status: 200, startMs: 1, durationMs: 20, message: 'Slow down' },
  ...{ tokens, units: { image: 1 }, costUsd: 0.25, costSource: 'counted' },
  price: { by: 'live', of: 'openai/gpt-5', asOf: '2026-11-01' },
}

/** A record with every field except `chargedUsd`, which requests with attempts don't have. */
const modelRequest: Required<Omit<StoredRequest, 'chargedUsd'>> = {
  id: '0199a0de-0000-7000-8000-000000000000',
  time: new Date(0x0199a0de0000).toISOString(),
  ...{ keyId: 'k', groupId: 'g', account: 'a', tokenId: 't', metadata: { team: 'x' }, tags: ['beta'], user: 'u' },
  ...{ endpoint: '/v1/chat/completions', format: 'openai-chat', model: 'best', target, streamed: true },
  attempts: [attempt],
  skipped: [
    { ...target, skipped: 'rate-limit' },
    { entry: 'other', skipped: 'when.tools' },
  ],
  ...{ firstByteMs: 5, durationMs: 30, status: 200, end: 'cut', error: 'UPSTREAM_CUT', reason: 'The stream broke.' },
  warnings: ['dropped: seed'],
  guards: [{ name: 'words', stage: 'request', verdict: 'change', category: 'x', isWatched: true, parts: 1, ms: 2 }],
  guardUsd: 0.125,
  promptCache: { by: 'gateway', read: 1, written: 2, savedUsd: 0.5, stoodDown: 'short', moved: true },
  servedBy: 'cache',
  ...{ tokens, units: { image: 1 }, costUsd: 0.25, costSource: 'counted' },
}

test('every field of a model request survives storage', () => {
  assert.equal(decodeRequests(encodeRequests([modelRequest], 0)), [modelRequest])
})

test('a charge by a feature route survives storage', () => {
  const request: StoredRequest = {
    ...{ id: modelRequest.id, time: modelRequest.time, endpoint: '/tools', streamed: false, attempts: [] },
    ...{ durationMs: 3, status: 200, end: 'complete', costUsd: 1.5, chargedUsd: 1.5 },
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  }
  assert.equal(decodeRequests(encodeRequests([request], 0)), [request])
})
