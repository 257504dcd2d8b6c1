import { isCi } from '../support/ci.ts'
import { assert, suite } from '../support/suite.ts'
import {
  type Behaviour,
  createBroken,
  failedShare,
  failingAtRandom,
  fine,
  getSum,
  type Outcome,
  simulate,
  unreachable,
} from './support/simulation.ts'

const test = suite('failing targets with 100 concurrent clients')

const PATIENT = { timeoutMs: 300_000 }

const failures: Array<[what: string, ways: [Behaviour, ...Behaviour[]]]> = [
  ['with 500', [createBroken(500)]],
  ['with 503, 429, or a refused connection', [createBroken(503), createBroken(429), unreachable]],
]

const several = (count: number, behavior: () => Behaviour) =>
  Object.fromEntries(['one', 'two', 'three'].slice(0, count).map((name) => [name, behavior()]))

function assertAtMost(failed: number, limit: number, outcome: Outcome) {
  const { seed, callsTo } = outcome
  assert.ok(
    failed <= limit,
    `${failed.toFixed(2)} % of ${getSum(outcome, 'requests')} requests failed; seed ${seed}, calls ${JSON.stringify(callsTo)}`,
  )
}

for (const [label, ways] of failures) {
  for (const [count, limit] of [[2, 1.5], ...(isCi ? [[1, 10.5] as const, [3, 0.3] as const] : [])] as const)
    test(
      `at most ${limit}% of requests fail if ${count} round-robin ${count === 1 ? 'target fails' : 'targets fail'} ${label} in 10% of calls`,
      PATIENT,
      async () => {
        const outcome = await simulate({ providers: several(count, () => failingAtRandom(0.1, ...ways)) })
        assertAtMost(failedShare(outcome), limit, outcome)
      },
    )
}

for (const [label, dead] of [
  ['fails with 503', createBroken(503)],
  ['refuses connections', unreachable],
] as const) {
  for (const strategy of ['fallback', 'round-robin'] as const)
    test(
      `after the first second, a dead target that ${label} fails almost no requests if another is healthy (${strategy})`,
      PATIENT,
      async () => {
        const fromStart = await simulate({ providers: { one: dead, two: fine }, combo: { strategy }, seconds: 6 })
        assertAtMost(failedShare(fromStart, 1), 0.1, fromStart)
        const dies: Behaviour = (ms, random) => (ms < 4_000 ? fine : dead)(ms, random)
        const later = await simulate({ providers: { one: dies, two: fine }, combo: { strategy }, seconds: 9 })
        assertAtMost(failedShare(later, 5), 0.1, later)
      },
    )

  for (const count of isCi ? [1, 2, 3] : [2])
    test(
      `if ${count === 1 ? 'the only target' : `each of ${count} targets`} always ${label}, there are at most 1.2 calls per request plus ten per second`,
      PATIENT,
      async () => {
        const outcome = await simulate({ providers: several(count, () => dead), seconds: 5 })
        const [calls, requests] = [getSum(outcome, 'calls'), getSum(outcome, 'requests')]
        assert.ok(calls <= 1.2 * requests + 10 * 5, `${calls} calls for ${requests} requests in five seconds`)
        assert.ok(calls >= requests, `${calls} calls for ${requests} requests: each request makes at least one`)
      },
    )
}

/** The maximum duration of a call, in ms. */
const SLOWEST_MS = 150

test(
  "100 clients respect a provider's retry-after while the other provider fails half of its calls",
  PATIENT,
  async () => {
    const answeredAt: number[] = []
    const respondLimited: Behaviour = (ms) => {
      answeredAt.push(ms)
      return Response.json({ error: { message: 'Slow down' } }, { status: 429, headers: { 'retry-after': '60' } })
    }
    const providers = { one: respondLimited, two: failingAtRandom(0.5, createBroken(500)) }
    await simulate({ providers, seconds: 5 })
    const [first = 0] = answeredAt
    assert.ok(
      answeredAt.every((ms) => ms <= first + SLOWEST_MS),
      `responses at ${answeredAt} ms: no call may start after the first response`,
    )
  },
)
