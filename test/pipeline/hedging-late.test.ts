import type { PendingResponse, UpstreamCall, UpstreamFetch } from '../../src/lib/exchange.ts'
import { startCall } from '../../src/lib/fetch-call.ts'
import type { AttemptRecord } from '../../src/request/hook-records.ts'
import { assert, suite } from '../support/suite.ts'
import { openHedging, respond } from './support/hedging.ts'

const test = suite('hedged attempts that end late')

/** Wraps a `fetch` so that its calls end some event loop turns after they are canceled. */
function endingLate(fetch: UpstreamFetch): UpstreamFetch {
  const raw = (call: UpstreamCall): PendingResponse => {
    const pending = startCall(fetch, call)
    return {
      ...pending,
      response: pending.response.catch(async (reason: unknown) => {
        for (let turn = 0; turn < lateBy(call); turn++) await nextTurn()
        throw reason
      }),
      cancel: (reason) => pending.cancel(reason),
    }
  }
  return Object.assign(fetch.bind(undefined), { raw })
}

const lateBy = ({ url }: UpstreamCall) => (url.includes('one.test') ? 1 : 3)
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

for (const stream of [false, true])
  test(`both hedged attempts are reported with their request, even if their calls end late${stream ? ' (streamed)' : ''}`, async () => {
    const { upstream, world, send, untilBoth } = await openHedging({}, { stream, wrap: endingLate })
    const controller = new AbortController()
    const pendingRequest = send({ signal: controller.signal })
    await untilBoth()
    controller.abort()
    assert.is((await pendingRequest).status, 499)
    const { attempts } = world.recorded.requests.at(-1) ?? {}
    assert.equal(
      attempts?.map(({ provider, outcome, status }) => `${provider} ${outcome} ${status}`),
      ['one cancelled 499', 'two cancelled 499'],
    )
    assert.is(upstream.open, 0)
    for (let turn = 0; turn < 4; turn++) await nextTurn()
    assert.is(world.recorded.attempts.length, 2, 'each once')
  })

test('both hedged attempts are reported once if the client disconnects as one succeeds', async () => {
  const controller = new AbortController()
  const recorded: string[] = []
  const onAttempt = ({ provider, outcome }: AttemptRecord) => {
    recorded.push(`${provider} ${outcome}`)
    if (outcome === 'outrun') controller.abort()
  }
  const { send, untilBoth } = await openHedging({ two: () => respond(false) }, { hooks: { onAttempt } })
  recorded.length = 0
  const pendingRequest = send({ signal: controller.signal })
  await untilBoth()
  await pendingRequest
  assert.equal(recorded, ['two answered', 'one outrun'])
})
