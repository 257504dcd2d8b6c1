import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { rejectWith } from './support/failing.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('an unhealthy target without alternatives')

/** Opens an unhealthy target and sends it ten concurrent requests. The response waits for `release`. */
async function burst(waitMs: number, respond: () => Response) {
  const clock = fakeClock()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isUnhealthy = true
  const upstream = fakeUpstream(async () => {
    if (isUnhealthy) return rejectWith(429, { 'retry-after': '5' })()
    await released
    return respond()
  })
  const world = await openWorld({ fetch: upstream, clock })
  const send = async (init?: RequestInit) => {
    const response = await world.chat({ model: 'one/m' }, init)
    return { status: response.status, wait: response.headers.get('retry-after'), text: await response.text() }
  }
  await send()
  isUnhealthy = false
  await clock.advance(waitMs)
  const first = send()
  while (upstream.calls.length < 2) await clock.advance(0)
  const inFlight = clock.pending()
  const others = Array.from({ length: 9 }, () => send())
  await clock.untilPending(inFlight + 9)
  return { clock, upstream, send, release, responses: [first, ...others] }
}

for (const [when, waitMs] of [
  ['is in cooldown', 1_000],
  ['may be probed', 6_000],
] as const) {
  test(`if the only target ${when}, a successful probe lets the other requests through`, async () => {
    const { upstream, release, responses } = await burst(waitMs, () => json(chatResponse()))
    assert.is(upstream.calls.length, 2)
    release()
    for (const { status } of await Promise.all(responses)) assert.is(status, 200)
    assert.is(upstream.calls.length, 11)
  })

  test(`if the only target ${when}, a failed probe fails the waiting requests too`, async () => {
    const { upstream, release, responses } = await burst(waitMs, rejectWith(429, { 'retry-after': '30' }))
    release()
    const [first, ...others] = await Promise.all(responses)
    assert.match(first?.text ?? '', 'no 429')
    for (const { status, wait, text } of others) {
      assert.is(status, 429)
      assert.ok(Number(wait) >= 30 && Number(wait) <= 33, `${wait}`)
      assert.match(text, 'Another request just tried one/m')
      assert.not.match(text, 'no 429', "another client's error isn't shown")
    }
    assert.is(upstream.calls.length, 2)
  })

  test(`if the only target ${when}, a second probe starts after five seconds without a response`, async () => {
    const { clock, upstream, send, release, responses } = await burst(waitMs, () => json(chatResponse()))
    await clock.advance(100)
    const waiting = clock.pending()
    const late = send()
    await clock.untilPending(waiting + 1)
    await clock.advance(4_900)
    while (upstream.calls.length < 3) await clock.advance(0)
    release()
    assert.is((await late).status, 200)
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    assert.equal(statuses.sort(), [200, 200, ...Array(8).fill(429)])
    assert.is(upstream.calls.length, 4)
    assert.is(clock.pending(), 0)
  })
}

test('a request waiting for a probe ends on disconnect or timeout, without delaying others', async () => {
  const { clock, upstream, send, release, responses } = await burst(6_000, () => json(chatResponse()))
  const controller = new AbortController()
  const waiting = clock.pending()
  const left = send({ signal: controller.signal })
  const impatient = send({ headers: { 'x-signalbox-timeout-ms': '50' } })
  await clock.untilPending(waiting + 3)
  await clock.advance(50)
  controller.abort()
  await left.catch(() => {})
  assert.is((await impatient).status, 504)
  assert.is(clock.pending(), waiting)
  release()
  assert.is((await send()).status, 200)
  await Promise.all(responses)
  assert.is(upstream.calls.length, 12)
  assert.is(upstream.open, 0)
})
