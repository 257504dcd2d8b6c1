import { fakeClock } from './clock.ts'
import { assert, suite } from './suite.ts'

const test = suite('the fake clock')

test("the fake clock doesn't advance on its own", async () => {
  const clock = fakeClock(1_000)
  let woke = false
  const sleep = clock.sleep(10).then(() => {
    woke = true
  })
  await clock.advance(9)
  assert.is(clock.now(), 1_009)
  assert.is(woke, false)
  await clock.advance(1)
  assert.is(woke, true)
  await sleep
})

test('the fake clock wakes sleepers on time and in order, one after another', async () => {
  const clock = fakeClock(0)
  const seen: string[] = []
  const note = (name: string) => () => void seen.push(`${name} at ${clock.now()}`)
  const late = clock.sleep(20).then(note('late'))
  const early = clock
    .sleep(5)
    .then(note('early'))
    .then(() => clock.sleep(5))
    .then(note('early again'))
  await clock.advance(100)
  await Promise.all([late, early])
  assert.equal(seen, ['early at 5', 'early again at 10', 'late at 20'])
  assert.is(clock.now(), 100)
})

test("an aborted sleep rejects with its signal's reason and is no longer pending", async () => {
  const clock = fakeClock()
  const controller = new AbortController()
  const sleep = clock.sleep(10, controller.signal).catch((reason: unknown) => reason)
  assert.is(clock.pending(), 1)
  controller.abort('enough')
  assert.is(await sleep, 'enough')
  assert.is(clock.pending(), 0)
  assert.is(await clock.sleep(10, controller.signal).catch((reason: unknown) => reason), 'enough')
})

test("untilPending waits for code that hasn't reached its sleep yet", async () => {
  const clock = fakeClock()
  const slow = new Promise((resolve) => setTimeout(resolve, 5)).then(() => clock.sleep(10))
  await clock.untilPending()
  await clock.advance(10)
  await slow
  assert.is(clock.pending(), 0)
})
