import { createThrottledPublisher } from '../../src/lib/throttled-publisher.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('telling now and then')

function start({ tellMs = 0, goesOn = false } = {}) {
  const clock = fakeClock()
  const startedAt = clock.now()
  const toldAt: number[] = []
  const telling = createThrottledPublisher(
    async () => {
      toldAt.push(clock.now() - startedAt)
      await clock.sleep(tellMs)
      return goesOn
    },
    { clock, pauseMs: 100, beatMs: 1_000 },
  )
  return { clock, toldAt, telling }
}

test('the first news is told at once, and what follows together after the pause', async () => {
  const { clock, toldAt, telling } = start()
  telling.news()
  assert.equal(toldAt, [0])
  await clock.advance(30)
  telling.news()
  telling.news()
  await clock.advance(500)
  assert.equal(toldAt, [0, 100])
  telling.news()
  assert.equal(toldAt, [0, 100, 530])
})

test('news that comes while it is told is told afterwards', async () => {
  const { clock, toldAt, telling } = start({ tellMs: 250 })
  telling.news()
  await clock.advance(50)
  telling.news()
  await clock.advance(1_000)
  assert.equal(toldAt, [0, 250])
})

test('it is told again without news as long as there is reason to', async () => {
  const { clock, toldAt, telling } = start({ goesOn: true })
  telling.news()
  await clock.advance(2_500)
  assert.equal(toldAt, [0, 1_000, 2_000])
  telling.news()
  await clock.advance(1_100)
  assert.equal(toldAt, [0, 1_000, 2_000, 2_500, 3_500])
})

test('once stopped it tells nothing, and waits for what is being told', async () => {
  const { clock, toldAt, telling } = start({ tellMs: 250, goesOn: true })
  telling.news()
  await clock.advance(50)
  telling.news()
  let isStopped = false
  void telling.stop().then(() => {
    isStopped = true
  })
  await clock.advance(100)
  assert.is(isStopped, false)
  await clock.advance(5_000)
  assert.is(isStopped, true)
  telling.news()
  await clock.advance(5_000)
  assert.equal(toldAt, [0])
  assert.is(clock.pending(), 0)
})
