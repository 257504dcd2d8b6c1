import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { openFailing, rejectWith } from './support/failing.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('targets in cooldown')

/** Opens a gateway where five 503 failures have put `one` into cooldown, with a second combo that has `one` as its second target. */
async function openCooling(options: Parameters<typeof openFailing>[0] = {}) {
  const opened = await openFailing({ combos: { chain: ['one/m', 'two/m'], riahc: ['two/m', 'one/m'] }, ...options })
  opened.down.one = rejectWith(503)
  for (let index = 0; index < 5; index++) await opened.send()
  assert.is(await opened.send(), '200 one/m=skipped:server, two/m=200')
  return opened
}

test('a target in cooldown gets the remaining attempt when the other target fails', async () => {
  const { down, send } = await openCooling()
  delete down.one
  down.two = rejectWith(500)
  assert.is(await send(), '200 one/m=skipped:server, two/m=500:server, one/m=200')
  assert.is(await send('riahc'), '200 two/m=500:server, one/m=200', 'the success has ended the cooldown')
})

test("a target in cooldown gets no attempt beyond the request's limit", async () => {
  const { down, send } = await openCooling({ limits: { maxAttempts: 1 } })
  down.two = rejectWith(500)
  assert.is(await send(), '500 one/m=skipped:server, two/m=500:server')
})

test('among several targets in cooldown, the first one due to recover gets the remaining attempt', async () => {
  const { down, send, pass } = await openCooling({
    combos: { chain: ['one/m', 'two/m'], all: ['one/m', 'two/m', 'three/m'] },
  })
  pass(2_000)
  down.two = rejectWith(503)
  for (let index = 0; index < 10; index++) await send('two/m')
  down.three = rejectWith(500)
  const skipped = 'one/m=skipped:server, two/m=skipped:server, three/m=500:server'
  assert.is(await send('all'), `502 ${skipped}, one/m=503:server, two/m=503:server`)
})

test("a target's retry-after is honored even if the other target fails", async () => {
  const { down, send, pass } = await openFailing()
  down.one = rejectWith(429, { 'retry-after': '20' })
  down.two = rejectWith(500)
  await send()
  assert.is(await send(), '500 one/m=skipped:rate-limit, two/m=500:server')
  pass(20_000)
  delete down.one
  assert.is(await send(), '200 one/m=200')
})

for (const status of [401, 404])
  test(`a target that failed with ${status} isn't retried when the other target fails`, async () => {
    const { down, send } = await openFailing()
    down.one = () => json({ error: { message: 'no', code: status === 404 ? 'model_not_found' : 'no' } }, status)
    await send()
    down.two = rejectWith(500)
    assert.match(await send(), /^500 one\/m=skipped:[a-z-]+, two\/m=500:server$/)
  })

test('concurrent requests call the only target in cooldown without waiting for each other', async () => {
  const { down, send, upstream } = await openCooling()
  const before = upstream.calls.length
  const responses = await Promise.all(Array.from({ length: 10 }, () => send('one/m')))
  assert.is(upstream.calls.length, before + 10)
  for (const response of responses) assert.is(response, '503 one/m=skipped:server, one/m=503:server')
  delete down.one
  assert.match(await send('one/m'), /^200 /)
})

test('a target with a refused connection is skipped, then called again if the other target fails', async () => {
  const { down, send } = await openFailing()
  down.one = () => {
    throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) })
  }
  assert.is(await send(), '200 one/m=502:network, two/m=200')
  assert.is(await send(), '200 one/m=skipped:network, two/m=200')
  down.two = rejectWith(500)
  assert.is(
    await send(),
    '502 one/m=skipped:network, two/m=500:server, one/m=502:network, one/m=502:network',
    'nothing was sent, so it is retried once',
  )
})

test("a failed probe doesn't fail the requests that wait for it", async () => {
  const clock = fakeClock()
  const responses = [rejectWith(429, { 'retry-after': '5' }), rejectWith(503)]
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const upstream = fakeUpstream(async (_call, index) => {
    if (index > 1) await released
    return responses[index - 1]?.() ?? json(chatResponse())
  })
  const world = await openWorld({ fetch: upstream, clock })
  const send = async () => (await world.chat({ model: 'one/m' })).status
  assert.is(await send(), 429)
  const first = send()
  while (upstream.calls.length < 2) await clock.advance(0)
  const inFlight = clock.pending()
  const others = Array.from({ length: 9 }, send)
  await clock.untilPending(inFlight + 9)
  release()
  assert.is(await first, 503)
  assert.equal(await Promise.all(others), Array(9).fill(200))
})
