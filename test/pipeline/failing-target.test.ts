import { isCi } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { askRaw } from './support/raw.ts'
import { chatEvents, chatResponse } from './support/responses.ts'
import { type Call, fakeUpstream, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('a failing target under load')

const REQUESTS = 1_000
/** The number of concurrent requests, unless a test needs them in order. */
const AT_ONCE = 50

interface Load {
  seconds: number
  model(request: number): string
  /** Returns whether the first account's `nth` call fails. Default: every call fails. */
  isFailing?(nth: number): boolean
  stream?: boolean
  atOnce?: number
}

/**
 * Opens two accounts of one provider, the first of which fails. Resolves to the calls and results of 1,000 requests spread over this many seconds.
 */
async function load({ seconds, model, isFailing = () => true, stream = false, atOnce = AT_ONCE }: Load) {
  let nowMs = 0
  let first = 0
  let failed = 0
  const failure = () => (stream ? sse('data: {"error":{"message":"down","code":503}}\n\n') : json('{}', 503))
  const respond = () => (stream ? sse(chatEvents()) : json(chatResponse()))
  const upstream = fakeUpstream((call) => {
    if (!isFirst(call) || !isFailing(first++)) return respond()
    failed++
    return failure()
  })
  const world = await openWorld({
    fetch: upstream,
    clock: { ...fakeClock(), now: () => nowMs },
    connections: [
      { provider: 'one', apiKey: FIRST, priority: 1 },
      { provider: 'one', apiKey: 'the-second-account', priority: 2 },
    ],
  })
  const statuses: number[] = []
  for (let sent = 0; sent < REQUESTS; sent += atOnce) {
    nowMs += (atOnce * seconds * 1_000) / REQUESTS
    const requested = Array.from({ length: atOnce }, (_, index) =>
      askRaw(world.gateway, '/v1/chat/completions', { model: model(sent + index), stream }),
    )
    for (const { reply } of await Promise.all(requested)) statuses.push(reply.status)
  }
  assert.is(upstream.open, 0)
  const answered = statuses.filter((status) => status === 200).length
  return { calls: upstream.calls.length, failed, answered }
}

const FIRST = 'the-first-account'
const isFirst = ({ headers }: Call) => headers.get('authorization') === `Bearer ${FIRST}`

/** Returns the documented maximum number of calls. */
const getMaxCalls = (seconds: number) => 1.2 * REQUESTS + 10 * seconds

for (const stream of [false, true]) {
  const mode = stream ? 'streamed' : 'not streamed'
  test(`under load, a target that always fails is soon skipped in favor of the next one (${mode})`, async () => {
    const { calls, failed, answered } = await load({ seconds: 5, model: () => 'one/m', stream })
    assert.ok(answered >= REQUESTS - AT_ONCE, `${answered} successes: all but some of the first batch`)
    assert.ok(
      failed >= 5 && failed <= AT_ONCE + 1,
      `${failed} calls to the failing target: the first batch, then a probe`,
    )
    assert.is(calls, answered + failed)
  })

  for (const seconds of isCi ? [1, 10, 60] : [10]) {
    test(`without cooldowns, calls to a target that always fails stay within the retry budget, over ${seconds} s (${mode})`, async () => {
      const model = (request: number) => `one/m-${request}` // a new model each time, so no cooldown starts
      const { calls, failed, answered } = await load({ seconds, model, stream, atOnce: seconds > 10 ? 10 : AT_ONCE })
      assert.is(failed, REQUESTS)
      assert.is(calls, REQUESTS + answered, 'each success costs one retry')
      assert.ok(calls <= getMaxCalls(seconds), `${calls} calls in ${seconds} s`)
      assert.ok(
        calls >= Math.min(2 * REQUESTS, 0.97 * getMaxCalls(seconds)),
        `${calls} calls in ${seconds} s: the budget is used up`,
      )
    })
  }

  test(`calls to a target that often fails without going into cooldown stay within the retry budget (${mode})`, async () => {
    const isFailing = (index: number) => index % 3 === 2
    const { calls, failed, answered } = await load({ seconds: 10, model: () => 'one/m', isFailing, stream, atOnce: 1 })
    assert.ok(failed > 300, `${failed} failures`)
    assert.is(calls, answered + failed)
    assert.ok(calls <= getMaxCalls(10), `${calls} calls`)
  })
}
